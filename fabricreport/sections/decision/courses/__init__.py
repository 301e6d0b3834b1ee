"""Courses of action beside taking an option as it is, each priced on the draws of the bills."""
