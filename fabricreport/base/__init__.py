"""What every room may use: errors, text, files, YAML, units, formats, vocabulary, provenance, uncertain values, kept answers.

Knows no cluster.

May import: nothing of ours.
"""
