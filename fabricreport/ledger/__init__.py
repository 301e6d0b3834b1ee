"""What is printed: a number with all that is needed to challenge it, its base, the figures that
sections declare, and the facts and words that prose is made of.

Knows no section.

May import: base.
"""
