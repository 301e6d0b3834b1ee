"""What would change the decision when more than one thing moves: joint moves, regions, values of an hour, regret."""
