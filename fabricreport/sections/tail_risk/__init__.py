"""What could go wrong: the tail, incidents, weeks to stable, the date a run ends."""
