"""Forms out and answers in: questionnaires, quotes, and one question followed from end to end.

May import: base, ledger, blocks, books, scenario, inputs, sections, case.
"""
