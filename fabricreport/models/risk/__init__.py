"""Tails, incidents, goodput and the dates of runs."""
