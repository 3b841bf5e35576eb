"""What a baseline file holds. The same types give its reader, its problems and its documentation."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Grade = Literal["fail", "error", "warn", "inconclusive"]

BETTER: dict[str, int] = {"error": 0, "fail": 1, "inconclusive": 2, "warn": 3, "pass": 4}
"""The grades, the worst first: what is expected to be one and is another is better or worse."""


class Entry(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One known result."""

    scenario: Annotated[str, Meta(min_length=1)]
    """`pause/no-tools`, perhaps with `[sse]`; may be a pattern such as `exit/*`."""
    clause: str | None = None
    """`PAUSE-1` or a pattern; without it whatever is broken there."""
    loop: str | None = None
    """What the loop is called in the run, or a pattern; without it every loop."""
    variant: Literal["json", "sse"] | None = None
    """Another way to say `[json]` or `[sse]`."""
    when: dict[str, str] = {}
    """The versions of packages, or of `python`, for which it holds: `{anthropic: '<1'}`."""
    grade: Grade
    """What the result is known to be."""
    reason: Annotated[str, Meta(min_length=1)]
    """Why it is known and not mended."""
    issue: str | None = None
    """Where it is kept track of."""
    flaky: bool = False
    """It may be better now and then."""


class BaselineFile(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The whole file."""

    coverage: dict[str, int] = {}
    """Clauses decided in a run of everything, by loop: fewer is a finding."""
    known: list[Entry] = []
    """The known results."""
