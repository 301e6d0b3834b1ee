"""What five articles of the trade would advise this client, and where their rules fail."""
