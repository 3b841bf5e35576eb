"""Known results of a loop: what it knowingly gets wrong, why, and what became of it."""
