"""Scenario files: their model, how they are read, found and chosen."""
