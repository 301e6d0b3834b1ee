"""From notebooks to a published memo: run, document, proof, write, publish.

Knows nothing about networks.

May import: base, ledger, blocks, books, scenario, inputs, bodies, case, report, check.
"""
