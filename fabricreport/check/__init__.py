"""Everything a build would refuse or doubt, read and tried before it.

May import: base, ledger, blocks, books, scenario, inputs, sections, bodies, case.
"""
