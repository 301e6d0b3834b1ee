"""Offers of sellers: what one says, and the words in which a client and a seller settle it."""
