"""`--baseline FILE`: what is known of the loops, held against what a run finds."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from . import Stop

if TYPE_CHECKING:
    from ..baseline.ledger import Ledger
    from ..baseline.load import Baseline
    from ..case import Case
    from ..report.lines import Line
    from ..report.model import LoopReport
    from ..runner import CaseResult


def add_baseline(parser: ArgumentParser) -> None:
    """The options about what is known of the loop."""
    parser.add_argument("--baseline", metavar="FILE", help="known results: conformance.yaml")
    parser.add_argument(
        "--update-baseline", action="store_true", help="write what this run found into the baseline"
    )
    parser.add_argument("--reason", metavar="TEXT", help="with --update-baseline: why the new ones are known")


class Comparison:
    """A run beside a baseline. Without one, results pass through as they are."""

    def __init__(self, options: Namespace, everything: Sequence[Case], *, whole: bool) -> None:
        """`everything`: the cases there are; `whole`: they are all run. Raises `Stop`."""
        from ..baseline.edit import check_form
        from ..scenario.problems import ScenarioError

        self._options = options
        self._everything = everything
        self._whole = whole
        self._ledgers: dict[str, Ledger] = {}
        self._named = {case.id: frozenset(case.scenario.clauses) for case in everything}
        if options.update_baseline and not options.baseline:
            raise Stop("--update-baseline: name the file with --baseline conformance.yaml")
        if options.reason is not None and not options.update_baseline:
            raise Stop("--reason: it goes with --update-baseline")
        self._reason = (options.reason or "").strip()
        if options.update_baseline:
            _check_writable(Path(options.baseline))
            _check_reason(Path(options.baseline), options.reason, self._reason)
        try:
            self._baseline = _load(options) if options.baseline else None
            if self._baseline and options.update_baseline:
                check_form(self._baseline.text, options.baseline)
        except ScenarioError as error:
            raise Stop(str(error)) from error

    def begin(self, loop: str, variants: Collection[str]) -> None:
        """Cases are about to be played to the loop, in those of their variants that differ for it."""
        if self._baseline is None:
            return
        from ..baseline.ledger import Ledger, Played

        differing = (case for case in self._everything if case.variant in variants)
        whole = [Played(case.scenario.id, case.variant) for case in differing]
        self._ledgers[loop] = Ledger(self._baseline, loop, whole)

    def enter(self, loop: str, result: CaseResult) -> CaseResult:
        """The result as it counts beside the baseline."""
        if self._baseline is None:
            return result
        return self._ledgers[loop].enter(result, self._named[result.id])

    def end(self, loops: Sequence[LoopReport]) -> tuple[list[Line], bool]:
        """What is to be said at the end, and whether it makes the run red. Raises `Stop`."""
        from ..report.lines import Line

        if self._baseline is None:
            return [], False
        if self._options.update_baseline:
            return self._update(loops)
        wrong = [*self._stale(), *self._lost(loops)]
        notes = [*self._flaky(), *(self._uncovered() if self._whole else ())]
        lines = [Line(f"{self._options.baseline}: {note}", "dim") for note in notes]
        lines += [Line(note, "dim") for note in self._baseline.notes]
        return [*(Line(text, "bad") for text in wrong), *lines], bool(wrong)

    def _stale(self) -> Iterator[str]:
        from ..baseline.renew import stale_entries, told_stale

        assert self._baseline  # noqa: S101 - for the types
        for stale in stale_entries(self._ledgers.values()):
            yield told_stale(self._baseline, stale)

    def _flaky(self) -> Iterator[str]:
        assert self._baseline  # noqa: S101 - for the types
        for ledger in self._ledgers.values():
            for index, held in ledger.flaky():
                entry = self._baseline.entries[index]
                yield f"flaky: {entry.scenario} was {entry.grade if held else 'better'} this time"

    def _lost(self, loops: Sequence[LoopReport]) -> Iterator[str]:
        for loop in loops if self._whole else ():
            if loop.name in self._ledgers and (lost := self._ledgers[loop.name].lost(loop.coverage)):
                yield lost

    def _uncovered(self) -> Iterator[str]:
        """That the coverage of no loop of this run is there: one was renamed, or its name is misspelt."""
        assert self._baseline  # noqa: S101 - for the types
        there = self._baseline.coverage
        if there and not there.keys() & self._ledgers.keys():
            yield f"coverage of {', '.join(there)}, and of no loop of this run"

    def _update(self, loops: Sequence[LoopReport]) -> tuple[list[Line], bool]:
        """Write the file anew. Without a reason nothing is added, and what is new is still unexpected."""
        from ..baseline.edit import updated
        from ..baseline.renew import new_entries, stale_entries
        from ..report.files import write
        from ..report.lines import Line, counted
        from ..scenario.problems import ScenarioError

        assert self._baseline  # noqa: S101 - for the types
        path = Path(self._options.baseline)
        new = new_entries(self._ledgers, reason=self._reason, strict=self._options.strict)
        add = new if self._reason else []
        gone = stale_entries(self._ledgers.values())
        decided = {loop.name: len(loop.coverage.decided) for loop in loops if self._whole}
        try:
            text = updated(self._baseline.text, str(path), stale=gone, add=add, coverage=decided)
            write(path, text)
        except ScenarioError as error:
            raise Stop(str(error)) from error
        except OSError as error:
            raise Stop(f"{path}: {error.strerror}") from error
        narrowed = sum(stale.still is not None for stale in gone)
        more = f", {narrowed} narrowed" if narrowed else ""
        told = [Line(f"{path}: {len(add)} added, {len(gone) - narrowed} removed{more}")]
        if len(new) > len(add):
            told.append(
                Line(f"{path}: {counted(len(new), 'result')} not added; say why with --reason TEXT", "bad")
            )
        return told, len(new) > len(add)


def _check_writable(path: Path) -> None:
    """Raise `Stop` where the file could not be written at the end: nobody wants to hear it only then."""
    from ..report.files import check_writable

    if not path.parent.is_dir():
        raise Stop(f"--baseline {path}: there is no folder {path.parent}")
    try:
        check_writable(path)
    except OSError as error:
        raise Stop(f"--baseline {path}: {error.strerror}") from error


def _check_reason(path: Path, given: str | None, reason: str) -> None:
    """Say before a run what will come of it without a reason. Raises `Stop` where that is nothing."""
    if reason:
        return
    if given is not None:
        raise Stop("--reason: say in words why the new results are known and not mended")
    if not path.exists():
        raise Stop(f"--update-baseline: say with --reason TEXT why what goes into the new {path} is known")
    print(
        f"loop-harness: {path}: without --reason TEXT entries are removed and narrowed, and none is added",
        file=sys.stderr,
    )


def _load(options: Namespace) -> Baseline:
    from ..baseline.load import Known, empty, load
    from ..clauses import CLAUSES
    from ..scenario.discover import find_scenarios
    from ..scenario.problems import missing

    path = Path(options.baseline)
    if not path.exists():
        if options.update_baseline:
            return empty(path)
        there_is_none = missing(path, "file").message
        raise Stop(f"--baseline {path}: {there_is_none}\n--update-baseline makes a new one")
    folder = [Path(options.scenarios)] if options.scenarios else []
    return load(path, Known.of(find_scenarios(folder), CLAUSES))
