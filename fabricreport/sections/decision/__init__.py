"""What to do, how sure we are, and what would change it."""
