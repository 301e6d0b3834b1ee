"""What could be found out before a client commits, and what that is worth to the choice."""
