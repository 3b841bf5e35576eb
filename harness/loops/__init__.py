"""Loops under test: how they are reached, and the reference loop."""
