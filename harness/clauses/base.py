"""Where the requests go: BASE."""

from __future__ import annotations

from .model import Clause

BASE = (
    Clause(
        id="BASE-1",
        level="MUST",
        sentence="Every request of the turn goes to the base URL that it was given.",
        reason=(
            "A second client, for a retry or a title, sends past a gateway what was to go through it: on "
            "another bill, or out of the house."
        ),
        ground="construction",
        source=(
            "A request for the Messages API was seen on its way to another host, by its path or by the SDK's "
            "client that made it."
        ),
        advice="Make one client, from the base URL that is handed in, and use it for every request.",
    ),
)
