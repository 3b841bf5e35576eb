"""Results as text, as JSON, and summed up: pure functions of what the runner returns."""
