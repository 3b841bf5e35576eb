"""The fake Messages API: it answers from a script as the real one would, records, and never judges."""
