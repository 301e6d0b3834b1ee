"""For a client that rents: which offer to take, on what conditions, or whom to ask while nobody has made one."""
