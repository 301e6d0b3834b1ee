"""What each option costs over the horizon, and why they differ."""
