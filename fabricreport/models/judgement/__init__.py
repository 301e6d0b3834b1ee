"""The decision: money on shared draws, the framework, the rule."""
