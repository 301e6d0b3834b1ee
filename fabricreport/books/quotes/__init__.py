"""Requests for quotes: the form, what sellers filled in, and where it is filed as prices."""
