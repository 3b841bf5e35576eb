"""What a rule is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from ..answer import Failure
from ..facts import Facts

Ground: TypeAlias = Literal["recorded", "documented", "quoted", ""]


class Breach(NamedTuple):
    """What is wrong with a request, where the answer says more about it than a text."""

    message: str
    details: dict[str, Any]


class Rule(msgspec.Struct, frozen=True):
    """One thing the API rejects. `check` yields each breach."""

    name: str
    row: int | None
    check: Callable[[Facts], Iterator[str | Breach]]
    status: int = 400
    ground: Ground = "quoted"
    fatal: bool = False
    """The request cannot be answered at all, however lenient the scenario is."""
    about: tuple[str, ...] = ()
    """Words of which a request that breaks the rule has at least one; none where that cannot be said."""


class Finding(msgspec.Struct, frozen=True):
    """A rule that a request breaks."""

    rule: str
    message: str
    failure: Failure
    verified: bool
    fatal: bool


def finding(rule: Rule, facts: Facts) -> Finding | None:
    """The first breach of `rule`."""
    for breach in rule.check(facts):
        message, details = (breach.message, breach.details) if isinstance(breach, Breach) else (breach, None)
        failure = Failure(status=rule.status, message=message, details=details, rule=rule.name)
        return Finding(rule.name, message, failure, verified=bool(rule.ground), fatal=rule.fatal)
    return None
