"""What the memo rests on: library, disagreements, audited claims, cards."""
