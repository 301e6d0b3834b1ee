"""House style and the figures: frozen result in, drawing, alt text and data out. May not compute models."""
