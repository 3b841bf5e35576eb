"""`known.toml`: changes that were looked at, and why nothing notices them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

KINDS = ("equivalent", "legal", "unseen")
"""The same program for whoever runs it; another right loop; a fault that nothing notices."""


@dataclass(frozen=True)
class Known:
    """An explained survivor."""

    where: str
    was: str
    now: str
    kind: str
    why: str

    @property
    def key(self) -> tuple[str, str, str]:
        """As that of the change it explains."""
        return self.where, self.was, self.now


@cache
def known(part: str) -> dict[tuple[str, str, str], Known]:
    """The explained survivors of a part, by what identifies the change. Raises `ValueError`."""
    path = Path(__file__).parent / f"{part}-known.toml"
    if not path.exists():
        return {}
    found: dict[tuple[str, str, str], Known] = {}
    for why, group in tomllib.loads(path.read_text(encoding="utf-8")).items():
        if group["kind"] not in KINDS:
            raise ValueError(f"{why}: kind {group['kind']!r} is none of {', '.join(KINDS)}")
        for where, was, now in group["changes"]:
            one = Known(where, was, now, group["kind"], why)
            found[one.key] = one
    return found
