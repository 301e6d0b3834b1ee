"""As delivered: logs judged against the acceptance plan, the credit due, and the decision made again.

May import: base, ledger, blocks, models, books, sections, sections/decision, bodies, case, check, memo.
"""
