"""The document as HTML and PDF."""
