"""The price book: dated rows, their rules, feeds and reports."""
