"""Topology, and what a fabric is made of and costs."""
