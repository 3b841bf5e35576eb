"""`python -m tests.mutation reference|checks`: changes code, and finds what nothing notices.

A run that was stopped goes on where it was. What survives and is not explained in `known.toml` is tried once
more, by all that was spared the first time.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from cosmic_ray.work_item import MutationSpec, TestOutcome

from tests.mutation import forks, report
from tests.mutation.changes import Change
from tests.mutation.known import known
from tests.mutation.session import FOLDER, ROOT, Session

EVERY = 20
"""Changes between two lines that tell how far it is."""
GRACE = 60.0
"""Seconds beyond its time after which a fork is killed."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("part", choices=["reference", "checks"])
    parser.add_argument("--fresh", action="store_true", help="drop what an earlier run found")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="forks at a time (default 1)")
    parser.add_argument("--sample", type=int, metavar="N", help="try N changes, drawn by lot, and not all")
    parser.add_argument("--again", action="store_true", help="try anew what survived unexplained")
    parser.add_argument("--first", action="store_true", help="try nothing a second time")
    parser.add_argument("--report", action="store_true", help="only write what is kept into docs/proof.md")
    asked = parser.parse_args()
    os.chdir(ROOT)
    if asked.fresh:
        for file in (f"{asked.part}.sqlite", f"{asked.part}.json"):
            (FOLDER / file).unlink(missing_ok=True)
    session = Session(asked.part)
    if not asked.report:
        if asked.again:
            session.forget([job for job, _ in session.unexplained(tried=True)])
        trial = Trial(session, asked.jobs)
        trial.run(session.pending(asked.sample))
        if not asked.first:
            trial.run(session.unexplained(), second=True)
    return report.write(session)


class Trial:
    """Tries changes, a few at a time."""

    def __init__(self, session: Session, at_once: int) -> None:
        self.session, self.at_once = session, at_once
        name = "unit" if session.part == "checks" else "scenarios"
        self.tests: Any = importlib.import_module(f"tests.mutation.{name}")
        _baseline(self.tests)
        self.order: Any = self.tests.Order(*self.tests.kept_baseline(FOLDER))
        for _, change, _, said in session.results():
            if "caught" in said:
                self.order.learn(change, said["caught"])

    def run(self, jobs: list[tuple[str, MutationSpec]], *, second: bool = False) -> None:
        """Try each, and keep what came of it."""
        began, counted = time.monotonic(), Counter[str]()
        work = self._work(jobs, counted, second=second)
        seconds, log = self.session.timeout, FOLDER / f"{self.session.part}.log"
        for (job, change), said in forks.each(work, at_once=self.at_once, deadline=seconds + GRACE, log=log):
            if "died" in said:
                raise SystemExit(f"the trial itself failed, see {log}:\n{change.where}: {change.now}")
            survived = "survived" in said
            self.session.keep(job, TestOutcome.SURVIVED if survived else TestOutcome.KILLED, said)
            counted["survived" if survived else "caught"] += 1
            if "caught" in said:
                self.order.learn(change, said["caught"])
            if survived and change.key not in known(self.session.part):
                print(f"{change.where}\n    - {change.was}\n    + {change.now}\n    {said}", flush=True)
            if counted.total() % EVERY == 0:
                passed = time.monotonic() - began
                print(f"{counted.total()} of {len(jobs)}, {passed:.0f} s: {dict(counted)}", flush=True)

    def _work(
        self, jobs: list[tuple[str, MutationSpec]], counted: Counter[str], *, second: bool
    ) -> Iterator[tuple[tuple[str, Change], forks.Work]]:
        for job, spec in jobs:
            change = self.session.change(spec)
            if change.is_none:
                self.session.keep(job, None, {})
                counted["no change"] += 1
                continue
            batches = self.order.batches(change, second=second)
            yield (job, change), functools.partial(self.tests.attempt, change, batches, self.session.timeout)


def _baseline(tests: Any) -> None:
    """Played in a fork, so that this process stays without threads, the reference and the checks."""

    def play() -> dict[str, Any]:
        found = tests.baseline(FOLDER)
        return {"cases": len(found), "bad": [one.name for one in found if one.bad]}

    for _, said in forks.each([("baseline", play)], at_once=1, deadline=1800, log=FOLDER / "baseline.log"):
        print(f"baseline: {said}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
