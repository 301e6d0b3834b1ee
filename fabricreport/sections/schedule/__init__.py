"""When it runs: the weeks from the memo's date to production, and a calendar of them that can be kept."""
