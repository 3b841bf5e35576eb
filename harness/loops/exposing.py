"""What to tell the owner of a loop to do to have more of it judged: it depends on how the loop is reached."""

from __future__ import annotations

from collections.abc import Mapping

from ..turn import EXPOSABLE


def how_to_expose(kind: str) -> Mapping[str, str]:
    """For each name of `EXPOSABLE` what to do. `kind` is a driver's: `python`, `process` or `service`."""
    if kind == "process":
        from .protocol import HOOKS

        return HOOKS
    if kind == "service":
        from .service import SEEN

        return SEEN
    return EXPOSABLE
