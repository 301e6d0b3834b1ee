"""From executed notebooks to one checked document."""
