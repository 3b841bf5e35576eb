"""Ids that are not what they were: whoever wrote an old one is told the new one, and still understood."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec
import yaml


class Moved(msgspec.Struct, frozen=True):
    """Old ids with the new ones; None where nothing has taken their place."""

    scenarios: dict[str, str | None] = {}
    clauses: dict[str, str | None] = {}

    def scenario(self, name: str) -> str:
        """What the scenario is called now."""
        return self.scenarios.get(name) or name

    def clause(self, name: str) -> str:
        """What the clause is called now."""
        return self.clauses.get(name) or name

    def notes(self, scenario: str, clause: str) -> Iterator[str]:
        """What to tell whoever names these."""
        for name, now in ((scenario.partition("[")[0], self.scenarios), (clause, self.clauses)):
            if name in now:
                new = now[name]
                yield f"`{name}` is called `{new}` now" if new else f"`{name}` is retired; remove the entry"


@cache
def moved() -> Moved:
    """The table that comes with the suite."""
    text = Path(__file__).with_name("moved.yaml").read_text(encoding="utf-8")
    return msgspec.convert(yaml.safe_load(text), Moved)
