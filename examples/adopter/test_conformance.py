"""The same baseline as the command line's: what is known is an expected failure, whatever else is none."""

from __future__ import annotations

from harness import conformance

test_agent = conformance(
    "agent:run",
    select=["text", "pause/no-tools", "refuse/empty", "truncate/text"],
    baseline="conformance.yaml",
)
