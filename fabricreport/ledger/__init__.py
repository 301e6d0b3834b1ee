"""What is printed: a number with all that is needed to challenge it, its base, and the facts and words that prose is made of.

Knows no section.

May import: base.
"""
