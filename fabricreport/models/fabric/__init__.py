"""Topology, cabling, growth, and what a fabric costs."""
