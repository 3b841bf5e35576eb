"""What the loop was handed and does not own: OWN."""

from __future__ import annotations

from .model import Clause

OWN = (
    Clause(
        id="OWN-1",
        level="MUST",
        sentence=(
            "What the caller handed in is the same afterwards: its messages, the schemas of its tools, and "
            "what they returned."
        ),
        reason="Cache marks pile up, a retry starts from another conversation, a shared tool has changed.",
        ground="construction",
        source="What was handed in was compared with itself when the loop had returned.",
        advice="Copy the list of messages before you append, and a message or schema before you change it.",
        needs=("arguments",),
    ),
)
