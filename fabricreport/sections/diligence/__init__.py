"""What to ask each seller, and the acceptance test."""
