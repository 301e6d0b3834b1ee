"""The memo's body: what each kind of question finds beside its sections, and the words of its prose.

Computes nothing.

May import: base, ledger, blocks, models, books, scenario, inputs, sections, sections/decision.
"""
