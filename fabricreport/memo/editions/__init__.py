"""Editions on disk: published whole or not at all."""
