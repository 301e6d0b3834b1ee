"""Files that people and sellers write, and the package's own data: strict YAML or table, to a typed model, to located messages.

Computes nothing about a cluster.

May import: base, ledger, models.
"""
