"""Histories that the checks are judged by: those of right loops and of wrong ones, played once and kept.

A check reads nothing but a history, so a changed check can be judged by what was played long before. Here
are the plays that the suite's proofs rest on: the reference, the legal variants and the right strangers, of
which nothing bad may be said, and the mutants and the wrong strangers, each with the clauses it dies by.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.history import AnyEvent, RequestSeen, decode_event, encode_event

ROOT = Path(__file__).parent.parent.parent
SOURCES = (
    "harness/**/*.py",
    "scenarios/**/*.yaml",
    "tests/loops/*.py",
    "tests/strangers/**/*.py",
    "tests/kills.py",
    "tests/proof.py",
    "tests/test_strangers.py",
)
BESIDE = ("checks", "report", "commands", "baseline", "profiles", "cassettes", "alias", "cli.py", "plugin.py")
"""What of the package they do not depend on."""
KEPT = "histories.gz"
AT_A_TIME = 4
TOO_LONG = 40
"""Requests beyond which a history is left out: a dozen loops that never end made nine tenths of all."""


@dataclass(frozen=True)
class Kept:
    """One history, and what the proofs say about it."""

    loop: str
    """The loop in one of its forms: what is wanted of a wrong one may be shown by any of its histories."""
    case: str
    right: bool
    wanted: tuple[str, ...]
    """The clauses of which each is broken in one of this loop's histories."""
    events: list[AnyEvent]

    @property
    def name(self) -> str:
        return f"{self.loop} {self.case}"


def digest() -> str:
    """Of all that histories depend on."""
    found = hashlib.sha256()
    beside = {ROOT / "harness" / name for name in BESIDE}
    for path in sorted({path for pattern in SOURCES for path in ROOT.glob(pattern)}):
        if beside.isdisjoint((path, *path.parents)):
            found.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return found.hexdigest()


def keep(folder: Path) -> None:
    """Play everything, unless what is kept in `folder` was made from the same sources."""
    now = digest()
    if (folder / KEPT).exists() and _digest_of(folder) == now:
        return
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    write(folder, now, _played())


def write(folder: Path, of: str, histories: Iterable[Kept]) -> None:
    """Keep these, made from the sources with this digest."""
    with gzip.open(folder / f"{KEPT}.new", "wb", compresslevel=3) as file:
        file.write(of.encode() + b"\n")
        for one in histories:
            if sum(isinstance(event, RequestSeen) for event in one.events) > TOO_LONG:
                continue
            head = {"loop": one.loop, "case": one.case, "right": one.right, "wanted": one.wanted}
            file.write(json.dumps({**head, "events": len(one.events)}).encode() + b"\n")
            file.writelines(encode_event(event) + b"\n" for event in one.events)
    (folder / f"{KEPT}.new").rename(folder / KEPT)


def kept(folder: Path) -> Iterator[Kept]:
    """What `keep` has kept."""
    with gzip.open(folder / KEPT, "rb") as file:
        next(file)
        for line in file:
            head: dict[str, Any] = json.loads(line)
            events = [decode_event(next(file)) for _ in range(head.pop("events"))]
            yield Kept(**{**head, "wanted": tuple(head["wanted"])}, events=events)


def _digest_of(folder: Path) -> str:
    with gzip.open(folder / KEPT, "rb") as file:
        return next(file).decode().strip()


def _played() -> Iterator[Kept]:
    """All plays; the modules that have the loops are imported here, for they import the checks."""
    from tests import proof
    from tests.kills import KILLS
    from tests.loops.mutants import MUTANTS

    mutants = [
        *MUTANTS.values(),
        *(replace(MUTANTS[mutant], scenarios=(scenario,)) for scenario, mutant in KILLS.items()),
    ]
    yield from _reference()
    yield from _each(_right_loops())
    yield from _each(
        [
            lambda mutant=mutant, form=form, variant=variant: _mutant(mutant, form, variant)
            for mutant in mutants
            for form, variant in proof.FORMS_AND_VARIANTS
        ]
    )


def _each(plays: Iterable[Callable[[], list[Kept]]]) -> Iterator[Kept]:
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for found in pool.map(lambda play: play(), plays):
            yield from found


def _reference() -> Iterator[Kept]:
    from harness.runner import Runner, cases_of
    from harness.scenario.discover import find_scenarios

    for form, variant in (("loop", "json"), ("async_loop", "sse")):
        target = f"harness.loops.reference:{form}"
        with Runner(target, jobs=2) as runner:
            for result in runner.run_all(cases_of(find_scenarios(), (variant,))):
                yield Kept(target, result.id, True, (), result.events)


def _right_loops() -> list[Callable[[], list[Kept]]]:
    """The legal variants in hosts; strangers in this process, right ones and wrong ones."""
    from tests import test_strangers as strangers
    from tests.loops import test_judged as judged
    from tests.loops.variants import VARIANTS

    sample = sorted({*judged.SAMPLE, *strangers.SAMPLE})

    def variant(target: str) -> list[Kept]:
        from harness.chosen import find_cases
        from harness.runner import Runner

        with Runner(target) as runner:
            cases = [one for one in find_cases(sample) if one.variant in runner.probe().variants]
            return [Kept(target, one.id, True, (), one.events) for one in runner.run_all(cases)]

    def stranger(path: Path, selectors: list[str], wanted: tuple[str, ...]) -> list[Kept]:
        results = strangers.played(path, selectors, strangers.glance(path))
        return [Kept(path.stem, one.id, not wanted, wanted, one.events) for one in results]

    right, wrong = strangers.FOLDER / "right", strangers.FOLDER / "wrong"
    return [
        *(lambda target=one.target: variant(target) for one in VARIANTS.values()),
        *(lambda name=name: stranger(right / f"{name}.py", sample, ()) for name in strangers.RIGHT),
        *(
            lambda name=name, clause=clause, scenario=scenario: stranger(
                wrong / f"{name}.py", [scenario], (clause,)
            )
            for name, (clause, scenario) in strangers.WRONG.items()
        ),
    ]


def _mutant(mutant: Any, form: str, variant: str) -> list[Kept]:
    """A mutant in one of its forms; once more where the machine was too late to see its fault."""
    from tests import proof

    if not proof.cases_for(mutant, (variant,)):
        return []
    for _ in range(2):
        results = proof.results_of(mutant, form, (variant,))
        kill = proof.summed(mutant, results)
        if not kill.survived:
            break
    wanted = tuple(sorted(set(mutant.clauses) & kill.broken))
    loop = f"{mutant.name} {form} {variant} {' '.join(mutant.scenarios)}"
    return [Kept(loop, one.id, False, wanted, one.events) for one in results]
