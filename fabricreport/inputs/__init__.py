"""Every input resolved once: params, books, overrides, answers, offers, experts; draws, central values, records.

Knows no section.

May import: base, ledger, models, books, scenario.
"""
