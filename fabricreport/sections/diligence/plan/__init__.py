"""The acceptance plan: which test is run with what, at which sizes, and what it has to show."""
