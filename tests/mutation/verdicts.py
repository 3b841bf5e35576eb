"""What the checks say of the kept histories, which lines of theirs say it, and what they say once changed."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.arrange import EvidenceError, arrange
from harness.clauses import CLAUSES
from harness.evidence import Run
from tests.mutation.changes import Change
from tests.mutation.histories import KEPT, Kept, kept
from tests.mutation.reach import CHECKS, Lines, at_import, reaches, watched

REACHED = "verdicts.json"
BAD = ("fail", "warn", "error")


@dataclass
class Judged:
    """What one clause's check says of one history, and the lines it ran."""

    history: int
    clause: str
    grade: str | None
    lines: Lines


def judge(run: Run, clause: str) -> str | None:
    """The grade of one clause; notes are none. The checks are imported here, changed or not."""
    from harness.checks import registered
    from harness.judge import _results

    check = registered().get(clause)
    if check is None:
        return "gone"
    found = _results(run, {clause: check}, {clause: CLAUSES[clause]})
    return next((one.grade for one in found if one.grade != "info"), None)


def reached(folder: Path) -> tuple[list[Judged], Lines]:
    """What each check says of each history, unchanged, and what importing the checks runs.

    It takes a minute, and is kept in `folder`. It has to be called before any check is imported.
    """
    path, now = folder / REACHED, _digest(folder)
    if not path.exists() or json.loads(path.read_text())["of"] != now:
        with watched(calls=True) as imported:
            importlib.import_module("harness.checks").registered()
        found = list(_reached(list(arranged(folder))))
        path.write_text(json.dumps({"of": now, "imported": imported, "found": found}))
    there = json.loads(path.read_text())
    return [Judged(*one) for one in there["found"]], there["imported"]


def arranged(folder: Path) -> Iterator[tuple[Kept, Run | None]]:
    """The kept histories; None where one is none, as that of a loop that could not be played."""
    for one in kept(folder):
        try:
            run = arrange(one.events)
        except EvidenceError:
            run = None
        yield one, run if run is not None and run.complete else None


def _digest(folder: Path) -> str:
    found = hashlib.sha256((folder / KEPT).read_bytes())
    for path in sorted(CHECKS.glob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


def _reached(histories: Sequence[tuple[Kept, Run | None]]) -> Iterator[tuple[Any, ...]]:
    from harness import judge as judging

    for number, (history, run) in enumerate(histories):
        # Where the script could not be played to the loop, no check is asked.
        asked = judging.judge(history.events, checks={}).reason == judging.NOTHING
        for clause in CLAUSES if run is not None and asked else ():
            with watched() as lines:
                grade = judge(run, clause)  # type: ignore[arg-type]
            if lines:
                yield number, clause, grade, dict(lines)


class Bench:
    """The kept histories with what was said of them: what a changed check is held against."""

    def __init__(self, folder: Path) -> None:
        self.kept, self.runs = zip(*arranged(folder), strict=True)
        self.judged, self.imported = reached(folder)
        self.by_module: dict[str, list[Judged]] = defaultdict(list)
        for one in self.judged:
            for name in one.lines:
                self.by_module[name].append(one)
        self.breaks: dict[tuple[str, str], list[Judged]] = defaultdict(list)
        """Loop and wanted clause to the judgements that show it broken."""
        for one in self.judged:
            history = self.kept[one.history]
            if one.clause in history.wanted and one.grade in BAD:
                self.breaks[history.loop, one.clause].append(one)

    def changed(self, change: Change) -> tuple[str, str]:
        """What a proof says against the change, and the first verdict that is merely another; empty: none.

        To be called in a process of its own, which has the change installed and no check imported.
        """
        other, broken = "", dict[tuple[str, str], set[int]]()
        for one in self._order(change):
            run, history = self.runs[one.history], self.kept[one.history]
            now = judge(run, one.clause)
            if now == one.grade:
                continue
            said = f"{history.name}: {one.clause}: {one.grade} -> {now}"
            named = one.clause in run.scenario.clauses
            if now == "error" or (history.right and _blamed(now, named=named)):
                return said, other
            pair = history.loop, one.clause
            if one.clause in history.wanted and one.grade in BAD and now not in BAD:
                broken.setdefault(pair, set()).add(one.history)
                if len(broken[pair]) == len(self.breaks[pair]):
                    return said, other
            other = other or said
        return "", other

    def _order(self, change: Change) -> list[Judged]:
        """The judgements the change may turn, those that a proof is about first."""
        every = self.judged if at_import(change, self.imported) else self.by_module[change.path.name]
        found = [one for one in every if reaches(one.lines, change, self.imported)]

        def rank(one: Judged) -> tuple[bool, bool, int]:
            history = self.kept[one.history]
            return one.clause not in history.wanted, not history.right, len(history.events)

        return sorted(found, key=rank)


def _blamed(grade: str | None, *, named: bool) -> bool:
    """Whether something is said of a right loop that no right loop is to hear."""
    return grade in BAD or (named and grade == "inconclusive")
