"""Reasons beyond money, and what of them has a figure in money."""
