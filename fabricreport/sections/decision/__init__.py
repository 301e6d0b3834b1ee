"""What to do, how sure we are, and what would change it.

May import: base, ledger, blocks, models, books, scenario, inputs, sections.
"""
