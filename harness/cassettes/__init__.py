"""Recordings in the format of vcrpy: read, written, replayed, judged, and turned into scenarios."""
