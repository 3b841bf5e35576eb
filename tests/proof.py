"""The kill matrix: every mutant played through the scenarios it is declared for, and what caught it.

`python -m tests.proof` plays all of them in all four forms and writes `docs/kill-matrix.md`.
"""

from __future__ import annotations

import functools
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from harness.case import Case
from harness.clauses import CLAUSES
from harness.history import Overran
from harness.probe import Probe
from harness.runner import CaseResult, Runner
from harness.scenario.discover import find_scenarios
from harness.scenario.model import Scenario
from harness.turn import EXPOSABLE, INTERRUPTS
from tests.loops.mutants import MUTANTS, Mutant

PAGE = Path(__file__).parent.parent / "docs" / "kill-matrix.md"
FORMS = ("sync", "async")
FORMS_AND_VARIANTS = (("sync", "json"), ("async", "sse"))
"""A sample of the four forms in which each mutant differs most from itself."""
AT_A_TIME = 6
KNOWN = Probe(exposes=sorted(EXPOSABLE))
"""What the reference exposes: a mutant is judged as if it did, so that leaving a hook out is a fault."""


@dataclass(frozen=True)
class Kill:
    """What became of one mutant."""

    mutant: Mutant
    broken: frozenset[str]
    """Clauses that failed or warned."""
    errors: tuple[str, ...] = ()
    """Cases in which the harness or the adapter broke."""
    seen_in: dict[str, list[str]] = field(default_factory=dict)
    """Clause to the cases that showed it."""

    @property
    def survived(self) -> frozenset[str]:
        """Declared clauses that did not catch it."""
        return frozenset(self.mutant.clauses) - self.broken


@functools.cache
def known() -> dict[str, Scenario]:
    """The bundled scenarios by id."""
    return {scenario.id: scenario for scenario in find_scenarios()}


def cases_for(mutant: Mutant, variants: Iterable[str]) -> list[Case]:
    """The cases in which a mutant has to show itself."""
    return [
        Case(known()[name], variant)
        for name in mutant.scenarios
        for variant in known()[name].variants
        if variant in variants and variant in mutant.variants
    ]


def play(mutant: Mutant, form: str, variants: Sequence[str] = ("json", "sse")) -> Kill:
    """Play a mutant through its scenarios, and say what became of it."""
    cases = cases_for(mutant, variants)
    if not needs_a_host(cases):
        # One that never ends is dead, too, once each of its clauses is broken: what follows it is not played.
        played = [one for one in _here(mutant, form, cases) if not one.reason.startswith("not run")]
        kill = summed(mutant, played)
        if not kill.survived and not kill.errors:
            return kill
    return summed(mutant, results_of(mutant, form, variants))


def results_of(mutant: Mutant, form: str, variants: Sequence[str]) -> list[CaseResult]:
    """Play a mutant through its scenarios: in this process, or where it can be stopped if it never ends."""
    cases = cases_for(mutant, variants)
    if needs_a_host(cases):
        # It is probed, so that its libraries are imported first.
        with Runner(mutant.target(form)) as runner:
            return runner.run_all(cases)
    results = _here(mutant, form, cases)
    if any(result.reason.startswith("not run") for result in results) or any(
        isinstance(event, Overran) for result in results for event in result.events
    ):
        # A host has its libraries still to import: the probe does that, outside any scenario's deadline.
        with Runner(mutant.target(form)) as runner:
            results = runner.run_all(cases)
    return results


def _here(mutant: Mutant, form: str, cases: Sequence[Case]) -> list[CaseResult]:
    """Play in this process, where what never ends cannot be stopped."""
    loop = mutant.async_loop if form == "async" else mutant.loop
    with Runner(loop, probe=KNOWN) as runner:
        return runner.run_all(cases)


def needs_a_host(cases: Iterable[Case]) -> bool:
    """Whether any is played by what can be killed or interrupted, or have another beside it: a process."""
    return any(case.scenario.crashes or case.scenario.rivals or _interrupts(case) for case in cases)


def _interrupts(case: Case) -> bool:
    return any(turn.cancel and turn.cancel.via in INTERRUPTS for turn in case.scenario.turns)


def play_all(plays: Sequence[tuple[Mutant, str, Sequence[str]]]) -> list[Kill]:
    """Several at a time, for most of their time is waiting; one that got away then, once more by itself.

    Some faults are seen by the clock only, and are missed where the machine is too late to tell.
    """
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        kills = list(pool.map(lambda one: play(*one), plays))
    return [
        play(*one) if kill.survived or kill.errors else kill for one, kill in zip(plays, kills, strict=True)
    ]


def summed(mutant: Mutant, results: Iterable[CaseResult]) -> Kill:
    """What the results say about the mutant."""
    seen: dict[str, list[str]] = defaultdict(list)
    errors = []
    for result in results:
        if result.grade == "error":
            errors.append(f"{result.id}: {result.reason}")
        for check in result.checks:
            if check.grade in ("fail", "warn"):
                seen[check.clause].append(result.id)
    return Kill(mutant, frozenset(seen), tuple(errors), dict(seen))


def page() -> str:
    """`docs/kill-matrix.md`: which clause catches which mutant."""
    mutants = MUTANTS.values()
    catchers: dict[str, list[str]] = {clause: [] for clause in CLAUSES}
    for mutant in mutants:
        for clause in mutant.clauses:
            catchers[clause].append(mutant.name)
    lines = [
        "# Kill matrix",
        "",
        "Each mutant is the reference loop with one thing wrong. It counts as killed only if each clause it",
        "declares is broken in the scenarios it names, without an error of the harness. The reference loop",
        "passes the same scenarios, and a check sees nothing but the history: so the histories differ.",
        "",
        "This page is written by `python -m tests.proof` and tested to be current.",
        "",
        f"{len(mutants)} mutants, {len(CLAUSES)} clauses.",
        "",
        "| mutant | what is wrong | killed by | in |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{mutant.name}` | {' '.join(mutant.doc.split())} | {', '.join(mutant.clauses)} "
        f"| {', '.join(f'`{name}`' for name in mutant.scenarios)} |"
        for mutant in mutants
    ]
    lines += ["", "## By clause", "", "| clause | kills |", "|---|---|"]
    lines += [
        f"| {clause} | {', '.join(f'`{name}`' for name in names) or '—'} |"
        for clause, names in catchers.items()
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Play everything and write the page; survivors are printed, and make it fail."""
    kills = play_all([(mutant, form, ("json", "sse")) for mutant in MUTANTS.values() for form in FORMS])
    alive = [kill for kill in kills if kill.survived or kill.errors]
    for kill in alive:
        print(f"{kill.mutant.name}: survived {sorted(kill.survived)}, errors {kill.errors}")
    if not alive:
        PAGE.write_text(page(), encoding="utf-8")
    print(f"{len(MUTANTS)} mutants in {len(FORMS)} x 2 forms, {len(alive)} plays without a kill")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
