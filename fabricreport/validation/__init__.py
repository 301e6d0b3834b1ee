"""Validation cards: what a model answers beside what others have published or measured, recomputed from packaged data.

May import: base, ledger, models, books.
"""
