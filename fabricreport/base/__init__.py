"""What every room may use: errors, text, files, YAML, units, formats, vocabulary, provenance, uncertain and written
values, sheets, colours, pictures, kept answers, the version.

Knows no cluster.

May import: nothing of ours.
"""
