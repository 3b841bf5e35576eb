"""The one clock: monotonic seconds, read in the parent process only (law 5)."""

from __future__ import annotations

import time

SLACK = 0.25
"""Seconds a timed clause allows beside the lateness the provider measured in that run."""

now = time.monotonic
"""Seconds on a clock that never goes back. Only differences mean anything."""
