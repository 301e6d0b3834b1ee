"""As delivered: logs judged against the acceptance plan, the credit due, and the decision made again."""
