"""The evidence report: what is the same for every client, made of the shipped library alone."""
