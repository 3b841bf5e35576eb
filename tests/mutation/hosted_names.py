"""Environment variables by which a host is told what to change or to watch."""

CHANGE, LINES = "HARNESS_MUTATION_CHANGE", "HARNESS_MUTATION_LINES"
"""Paths: of a file with the changed module, and of a folder for the lines that were run."""
