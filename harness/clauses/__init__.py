"""The catalogue: every clause a loop is judged by, as data.

Plain Python, so that importing it costs a millisecond and the type checker reads it too.
"""

from __future__ import annotations

from . import base, cleanup, display, early, fault, limits, owned, resume, state, stop
from .model import Clause, Ground, Level

__all__ = ["CLAUSES", "FAMILIES", "Clause", "Ground", "Level"]

FAMILIES: dict[str, str] = {
    "END": "the turn is over",
    "TOOL": "tools the client runs",
    "PAUSE": "server-run tools that take long",
    "TRUNC": "a reply cut by `max_tokens`",
    "REFUSE": "the model declines",
    "WINDOW": "the context window is full",
    "COMPACT": "a summary stands for the conversation",
    "UNKNOWN": "a stop reason nobody knows yet",
    "BOUND": "a turn ends",
    "HIST": "the history is the state",
    "OWN": "what the caller owns",
    "BASE": "where the requests go",
    "THREAD": "message threads",
    "SHOW": "what the user sees",
    "CAP": "two caps, both observable",
    "CANCEL": "the user presses stop",
    "CLEAN": "every exit path lands in the same place",
    "RESUME": "a crash in mid-turn, and the rerun",
    "USAGE": "what the turn cost",
    "FAULT": "the provider misbehaves",
    "STREAM": "a reply that comes in pieces",
    "EXPECT": "what the scenario expects",
}
"""Families in the order of the catalogue, and what each is about."""

_ORDER = (
    stop.END, stop.TOOL, stop.PAUSE, early.TRUNC, early.REFUSE, early.WINDOW, early.COMPACT, stop.UNKNOWN,
    stop.GENERAL[:1], state.HIST, owned.OWN, base.BASE, state.THREAD, display.SHOW, limits.CAP, limits.CANCEL,
    cleanup.CLEAN, resume.RESUME, cleanup.USAGE, fault.FAULT, fault.STREAM, stop.GENERAL[1:],
)  # fmt: skip

CLAUSES: dict[str, Clause] = {clause.id: clause for family in _ORDER for clause in family}
"""Every clause by its id, in the order of the catalogue. Only clauses with a check are listed."""
