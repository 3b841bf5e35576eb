"""Choosing scenarios: `pause/no-tools`, `pause`, `pause/*`, `PAUSE-1`, `PAUSE`, with or without `[sse]`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from .load import SUFFIXES, shown_path
from .model import Scenario
from .problems import nearest

VARIANTS = ("json", "sse")

_SELECTOR = re.compile(r"(?P<name>[^\[\]]*)(?:\[(?P<variant>[^\[\]]*)\])?")
_CLAUSE = re.compile(r"[A-Z]+(?:-[0-9*?]+)?")


class SelectorError(Exception):
    """Selectors that match nothing. The message says what each of them could have meant."""


def select(scenarios: Sequence[Scenario], selectors: Sequence[str] = ()) -> list[tuple[Scenario, str]]:
    """The scenarios with their variants that any selector matches, in their order; without selectors, all.

    Raises `SelectorError` where a selector matches nothing.
    """
    cases = [(scenario, variant) for scenario in scenarios for variant in scenario.variants]
    if not selectors:
        return cases
    problems: list[str] = []
    chosen: set[tuple[str, str]] = set()
    for selector in selectors:
        matched = {(each.id, variant) for each, variant in cases if matches(selector, each, variant)}
        if not matched:
            problems.append(_explain(selector, scenarios))
        chosen |= matched
    if problems:
        raise SelectorError("\n".join(problems))
    return [(scenario, variant) for scenario, variant in cases if (scenario.id, variant) in chosen]


def matches(selector: str, scenario: Scenario, variant: str) -> bool:
    """Whether the selector chooses this variant of the scenario."""
    parsed = _SELECTOR.fullmatch(selector.strip())
    if parsed is None or parsed["variant"] not in (None, variant):
        return False
    return _names(parsed["name"], scenario)


def _names(name: str, scenario: Scenario) -> bool:
    if name.endswith(SUFFIXES):
        return shown_path(Path(name)) == scenario.path
    if _CLAUSE.fullmatch(name):
        family = name if "-" in name else f"{name}-*"
        return any(fnmatchcase(clause, family) for clause in scenario.clauses)
    if name.strip("/") in ("", scenario.id) or fnmatchcase(scenario.id, name):
        return True
    return scenario.id.startswith(f"{name.rstrip('/')}/")


def _explain(selector: str, scenarios: Sequence[Scenario]) -> str:
    parsed = _SELECTOR.fullmatch(selector.strip())
    if parsed is None:
        return f"`{selector}`: a selector is a name, then perhaps [sse] or [json]"
    name, variant = parsed["name"], parsed["variant"]
    if variant is not None and variant not in VARIANTS:
        return f"`{selector}`: unknown variant `{variant}`{nearest(variant, VARIANTS)}"
    there = [scenario for scenario in scenarios if _names(name, scenario)]
    if there:
        only = ", ".join(f"{each.id}[{'], ['.join(each.variants)}]" for each in there[:3])
        return f"`{selector}` matches no scenario in this variant; there is {only}"
    known = {scenario.id for scenario in scenarios}
    known |= {scenario.id.rpartition("/")[0] for scenario in scenarios} - {""}
    known |= {clause for scenario in scenarios for clause in scenario.clauses}
    hint = nearest(name, sorted(known), listed=0) or "; `loop-harness list` shows what there is"
    return f"`{selector}` matches no scenario{hint}"
