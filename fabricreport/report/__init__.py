"""The evidence report: what is the same for every client, made of the shipped library alone.

May import: base, ledger, blocks, models, books, validation, scenario, inputs, sections, case.
"""
