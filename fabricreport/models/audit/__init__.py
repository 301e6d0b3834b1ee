"""Claims recomputed, sources set side by side, sellers' answers judged."""
