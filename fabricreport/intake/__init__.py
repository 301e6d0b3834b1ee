"""Faults that only params and books together show, found before any analysis."""
