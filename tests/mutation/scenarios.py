"""The reference loop under the scenarios: the cases that reach a change, until a verdict differs."""

from __future__ import annotations

import importlib
import json
import os
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import anthropic  # noqa: F401 - each fork has it

from harness.case import Case
from harness.history import Overran
from harness.probe import Probe
from harness.runner import CaseResult, Runner, cases_of
from harness.scenario.discover import find_scenarios
from harness.scenario.model import Scenario
from harness.turn import EXPOSABLE, INTERRUPTS
from tests.mutation.changes import Change
from tests.mutation.hosted_names import CHANGE, LINES

KNOWN = Probe(exposes=sorted(EXPOSABLE))
REFERENCE = Path(__file__).parent.parent.parent / "harness" / "loops" / "reference"
HOSTED = "tests.mutation.hosted"
FORMS = (("loop", "json"), ("async_loop", "sse"), ("loop", "sse"), ("async_loop", "json"))
"""In this order: the first two differ most."""
BASELINE = "baseline.json"
ONCE = ("clients.py client", "clients.py async_client")
"""What runs for the first case of a process, and holds for all."""
DRIVERS = {"loop": "sync_driver.py", "async_loop": "async_driver.py"}
LIKELY = 8
"""Cases tried first because they have caught a change near by."""


@dataclass
class Played:
    """A case of the baseline: what it takes, what it reaches, and what it grades as."""

    form: str
    scenario: str
    variant: str
    hosted: bool
    seconds: float = 0.0
    bad: list[str] = field(default_factory=list)
    lines: dict[str, list[int]] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    """Modules that were changed since it was watched."""

    @property
    def name(self) -> str:
        return f"{self.form}:{self.scenario}[{self.variant}]"

    def reaches(self, change: Change) -> bool:
        if change.span is None or change.path.name in self.unknown or change.where in ONCE:
            return True
        first, last = change.span
        return any(first <= line <= last for line in self.lines.get(change.path.name, ()))


class Different(Exception):  # noqa: N818 - it is what was looked for
    def __init__(self, result: CaseResult, clauses: list[str]) -> None:
        self.result, self.clauses = result, clauses


def known() -> dict[str, Scenario]:
    return {scenario.id: scenario for scenario in find_scenarios()}


def needs_a_host(scenario: Scenario) -> bool:
    """Whether only a process of the loop's own can play it."""
    interrupts = any(turn.cancel and turn.cancel.via in INTERRUPTS for turn in scenario.turns)
    return bool(scenario.crashes) or interrupts


def bad(result: CaseResult) -> list[str]:
    """Clauses that were broken, and whatever else a right loop never gets."""
    worse = [check.clause for check in result.checks if check.grade in ("fail", "warn", "error")]
    return sorted(set(worse)) or ([result.grade] if result.grade in ("error", "unsupported") else [])


def baseline(folder: Path) -> list[Played]:
    """All cases as the unchanged loop plays them; what is kept in `folder` is not played again."""
    kept = folder / BASELINE
    before = json.loads(kept.read_text()) if kept.exists() else {"sources": {}, "played": []}
    every = known()
    played = [Played(**one) for one in before["played"] if one["scenario"] in every]
    now = {path.name: path.read_text(encoding="utf-8") for path in sorted(REFERENCE.glob("*.py"))}
    changed = {name for name in now if before["sources"].get(name) != now[name]}
    for one in played:
        # Which lines of a changed module it reaches is not known, so it may be all.
        one.lines = {name: lines for name, lines in one.lines.items() if name not in changed}
        one.unknown = sorted({*one.unknown, *changed})
    there = {(one.form, one.scenario, one.variant) for one in played}
    for hosted in (False, True):
        for form, variant in FORMS:
            scenarios = [one for one in every.values() if needs_a_host(one) == hosted]
            cases = [
                case
                for case in cases_of(scenarios, (variant,))
                if (form, case.scenario.id, variant) not in there
            ]
            played += _reached(form, cases, hosted=hosted)
    kept.write_text(json.dumps({"sources": now, "played": [asdict(one) for one in played]}))
    return played


def kept_baseline(folder: Path) -> tuple[list[Played]]:
    """What `baseline` has kept."""
    return ([Played(**one) for one in json.loads((folder / BASELINE).read_text())["played"]],)


def _reached(form: str, cases: Sequence[Case], *, hosted: bool) -> list[Played]:
    """Play the cases twice: as they are, and watched."""
    plain = _play(form, cases, hosted=hosted)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[LINES] = folder
        try:
            _play(form, cases, hosted=hosted)
        finally:
            del os.environ[LINES]
        lines = {path.name: _lines(path) for path in Path(folder).iterdir()}
    return [
        Played(
            form, case.scenario.id, case.variant, hosted, result.seconds, bad(result),
            lines.get(f"{case.scenario.id.replace('/', '-')}-{case.variant}", {}),
        )
        for case, result in zip(cases, plain, strict=True)
    ]  # fmt: skip


def _lines(path: Path) -> dict[str, list[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for line in path.read_text().splitlines():
        name, _, number = line.partition(" ")
        found[name].add(int(number))
    return {name: sorted(numbers) for name, numbers in found.items()}


def _play(form: str, cases: Sequence[Case], *, hosted: bool, on_result: Any = None) -> list[CaseResult]:
    if not cases:
        return []
    # A loop that runs here is read anew, for it is changed or watched by what the environment says.
    target = (
        f"{HOSTED}:{form}" if hosted else getattr(importlib.reload(importlib.import_module(HOSTED)), form)
    )
    with Runner(target, probe=KNOWN, jobs=2) as runner:
        return runner.run_all(cases, on_result)


class Order:
    """Which cases are tried for a change, the likely ones first."""

    def __init__(self, played: Iterable[Played]) -> None:
        self.played = [one for one in played if not one.bad]
        self.caught: dict[str, Counter[str]] = defaultdict(Counter)

    def learn(self, change: Change, name: str) -> None:
        """Remember what caught a change."""
        self.caught[change.where][name] += 1
        self.caught[change.path.name][name] += 1

    def batches(self, change: Change, *, second: bool = False) -> list[list[Played]]:
        """Cases that reach the change, in runs of one form each.

        What is quickly played comes first; the second time all that is left: the other two forms, and what
        only a host can play.
        """
        reached = sorted(
            (one for one in self.played if one.reaches(change) and _comes_later(one, change) == second),
            key=lambda one: one.seconds,
        )
        near, family = self.caught[change.where], self.caught[change.path.name]
        ranked = sorted(reached, key=lambda one: (-near[one.name], -family[one.name], one.hosted))
        likely = [one for one in ranked if family[one.name] and not one.hosted][:LIKELY]
        found = [[one for one in likely if one.form == form] for form in ("loop", "async_loop")]
        for hosted in (False, True):
            for form, variant in FORMS:
                rest = [
                    one for one in reached if (one.form, one.variant, one.hosted) == (form, variant, hosted)
                ]
                found.append([one for one in rest if one not in likely])
        return [batch for batch in found if batch]


def _comes_later(one: Played, change: Change) -> bool:
    """Whether a case is left for the second try: it is slow, and seldom tells more than others."""
    usual = (one.form, one.variant) in FORMS[:2] or change.path.name == DRIVERS.get(one.form)
    return one.hosted or not usual


def attempt(change: Change, batches: list[list[Played]], seconds: float) -> dict[str, Any]:
    """Play cases to the changed loop until one is judged otherwise. To be called in a process of its own."""
    second = bool(batches) and all(_comes_later(one, change) for batch in batches for one in batch)
    until = time.monotonic() + seconds
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump([str(change.path), change.after], file)
        file.flush()
        os.environ[CHANGE] = file.name
        scenarios, tried = known(), 0
        for batch in batches:
            if time.monotonic() > until:
                return {"survived": tried, "second": second, "left": sum(map(len, batches)) - tried}
            form, hosted = batch[0].form, batch[0].hosted
            try:
                caught = _caught(form, [Case(scenarios[one.scenario], one.variant) for one in batch], hosted)
            except Exception as error:  # noqa: BLE001 - the changed module cannot be imported
                return {"caught": "import", "by": [f"{type(error).__name__}: {error}"[:200]]}
            if caught:
                result, clauses = caught
                return {"caught": f"{form}:{result.id}", "by": clauses, "after": tried}
            tried += len(batch)
    return {"survived": tried, "second": second}


def _caught(form: str, cases: Sequence[Case], hosted: bool) -> tuple[CaseResult, list[str]] | None:
    """The first case that a changed loop is judged otherwise in, twice: the machine may have been late."""

    def look(result: CaseResult) -> None:
        if clauses := bad(result):
            raise Different(result, clauses)

    left = list(cases)
    while left:
        try:
            _play(form, left, hosted=hosted, on_result=look)
        except Different as found:
            one = next(case for case in left if case.id == found.result.id)
            if any(isinstance(event, Overran) for event in found.result.events):
                return found.result, found.clauses
            again = _play(form, [one], hosted=hosted)[0]
            if bad(again):
                return again, bad(again)
            left = left[left.index(one) + 1 :]
        else:
            return None
    return None
