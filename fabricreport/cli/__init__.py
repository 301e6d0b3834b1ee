"""The command line: thin commands.

Holds no logic that the library lacks.

May import: base, books, validation, scenario, inputs, sections, sections/decision, case, report, check, memo, delivery, api, desk.
"""
