"""How many branches of the notebooks' prose were rendered, and how many of them a shipped client takes."""

from collections import Counter

BRANCHES: Counter[str] = Counter()
