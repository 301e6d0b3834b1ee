"""What to do before signing: who does it, by when, what it is worth, and what to write to whom."""
