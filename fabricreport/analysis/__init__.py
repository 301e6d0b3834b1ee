"""Joins a case's params and books to the models, one module to a section. May not plot or know the memo."""
