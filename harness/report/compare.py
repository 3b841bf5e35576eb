"""Two reports side by side: what got worse, what got better, what is new, what is gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from ..judge import CheckResult
from ..runner import CaseResult
from .lines import Line, counted, labelled
from .model import BAD, LoopReport, Report

Kind: TypeAlias = Literal["worse", "better", "new", "gone"]
KINDS: tuple[Kind, ...] = ("worse", "better", "new", "gone")

_RANK = {"error": 0, "fail": 1, "warn": 2, "known": 3, "pass": 3}
"""The grades that decide something, the worst first. What is known counts as little as a pass."""
_STYLE = {"worse": "bad", "better": "good", "new": "warn", "gone": "warn"}
_ABSENT = "-"


class Change(NamedTuple):
    """What is not as it was: of a clause in a case, of a case, or of a whole loop."""

    kind: Kind
    loop: str
    case: str
    """Empty where it is about the loop."""
    clause: str
    """Empty where it is about the case."""
    was: str
    now: str
    message: str


class Compared(NamedTuple):
    """All that changed, in the order of the new report, and how much did not."""

    changes: list[Change]
    same: int
    notes: list[str]

    def of(self, kind: Kind) -> list[Change]:
        """The changes of one kind."""
        return [change for change in self.changes if change.kind == kind]


def compared(old: Report, new: Report) -> Compared:
    """What changed from `old` to `new`.

    Loops are the same by their name, or where each report has but one.
    """
    alone = len(old.loops) == len(new.loops) == 1
    before = {loop.name: loop for loop in old.loops}
    changes: list[Change] = []
    same = 0
    for loop in new.loops:
        earlier = old.loops[0] if alone else before.pop(loop.name, None)
        found = list(_of_loop(earlier, loop))
        changes += [change for change in found if change is not None]
        same += found.count(None)
    if not alone:
        changes += [_loop_change("gone", loop) for loop in before.values()]
    return Compared(changes, same, list(_notes(old, new)))


def _of_loop(old: LoopReport | None, new: LoopReport) -> Iterator[Change | None]:
    """Its changes; None for each that is none."""
    if old is None:
        yield _loop_change("new", new)
        return
    if old.problem or new.problem:
        kind: Kind = "better" if not new.problem else "worse"
        yield None if old.problem and new.problem else _loop_change(kind, new)
        return
    before = {result.id: result for result in old.results}
    catalogue = {*old.coverage.decided, *old.coverage.undecided}
    for result in new.results:
        earlier = before.pop(result.id, None)
        if earlier is None:
            yield _case_change("new", new.name, None, result)
        else:
            yield from _of_case(new.name, earlier, result, catalogue)
    for result in before.values():
        if result.id not in new.unplayed:
            yield _case_change("gone", new.name, result, None)


def _of_case(loop: str, old: CaseResult, new: CaseResult, catalogue: set[str]) -> Iterator[Change | None]:
    broke = [result.grade == "error" and not _broken(result) for result in (old, new)]
    if any(broke):
        # The case itself broke, so that there are no clauses to be compared.
        kind: Kind = "better" if not broke[1] else "worse"
        yield None if all(broke) else _case_change(kind, loop, old, new)
        return
    before = {check.clause: check for check in old.checks if check.grade != "info"}
    now = {check.clause: check for check in new.checks if check.grade != "info"}
    for clause in dict.fromkeys([*now, *before]):
        was, here = before.get(clause), now.get(clause)
        change = _kind(was, here, known=clause in catalogue)
        if change is None:
            yield None
        else:
            # Of a clause that is kept, the message is but its sentence.
            message = "" if here is None or here.grade == "pass" else here.message
            yield Change(change, loop, new.id, clause, _grade(was), _grade(here), message)


def _kind(old: CheckResult | None, new: CheckResult | None, *, known: bool) -> Kind | None:
    """What became of a clause in a case that both runs played; `known`: the old run could have judged it."""
    was = _RANK.get(old.grade) if old else None
    now = _RANK.get(new.grade) if new else None
    if was is not None and now is not None:
        return None if was == now else "worse" if now < was else "better"
    if now is not None and new is not None:
        if new.grade in BAD and known:
            return "worse"
        # Whether a clause applies may differ from run to run, and a pass more or less is no news.
        return "new" if new.grade in BAD or old is not None else None
    return "gone" if was is not None and new is not None else None


def _broken(result: CaseResult) -> bool:
    return any(check.grade in BAD for check in result.checks)


def _grade(check: CheckResult | None) -> str:
    return check.grade if check else _ABSENT


def _loop_change(kind: Kind, loop: LoopReport) -> Change:
    grade = "cannot be driven" if loop.problem else "judged"
    message = loop.problem.splitlines()[0] if loop.problem else "the loop was judged"
    was, now = (grade, _ABSENT) if kind == "gone" else (_ABSENT, grade)
    return Change(kind, loop.name, "", "", was, now, message)


def _case_change(kind: Kind, loop: str, old: CaseResult | None, new: CaseResult | None) -> Change:
    was, now = (result.grade if result else _ABSENT for result in (old, new))
    result = new or old
    assert result  # noqa: S101 - for the types
    first = next((check.message for check in result.checks if check.grade in BAD), result.reason)
    return Change(kind, loop, result.id, "", was, now, first.partition("\n")[0])


def _notes(old: Report, new: Report) -> Iterator[str]:
    if old.version != new.version:
        yield f"judged by loop-harness {old.version}, then by {new.version}: not every change is the loop's"
    for report, which in ((old, "old"), (new, "new")):
        if report.incomplete:
            cut = [f"{loop.name}: {loop.cut_short}" for loop in report.loops if loop.unplayed]
            yield f"the {which} report is incomplete: {'; '.join(cut)}"
    seeds = [{loop.name: loop.seed for loop in report.loops} for report in (old, new)]
    if any(seeds[0][name] != seeds[1][name] for name in seeds[0].keys() & seeds[1].keys()):
        yield "the seeds are not the same, so the texts differ"


def compared_lines(found: Compared, *, verbose: bool = False) -> Iterator[Line]:
    """The changes, worst first; the same change in several cases is one line, unless `verbose`."""
    several = len({change.loop for change in found.changes}) > 1
    for kind in KINDS:
        for group in _groups(found.of(kind), verbose=verbose):
            change = group[0]
            more = f" (and in {len(group) - 1} more)" if len(group) > 1 else ""
            place = " ".join(filter(None, [change.loop if several or not change.case else "", change.case]))
            what = f"{change.clause}  " if change.clause else ""
            told = f": {change.message}" if change.message else ""
            text = f"{what}{place}: {change.was} -> {change.now}{told}{more}"
            for number, line in enumerate(labelled(kind.upper(), text, indent=0, column=8)):
                yield Line(line.text, _STYLE[kind] if number == 0 else "")
    yield from (Line(note, "dim") for note in found.notes)
    counts = ", ".join(f"{len(found.of(kind))} {kind}" for kind in KINDS)
    yield Line(f"{counts}; {counted(found.same, 'verdict')} as before")


def _groups(changes: Sequence[Change], *, verbose: bool) -> Iterator[list[Change]]:
    groups: dict[tuple[str, ...], list[Change]] = {}
    for number, change in enumerate(changes):
        key = (change.loop, change.clause, change.was, change.now)
        alone = verbose or (not change.clause and change.kind in ("worse", "better"))
        groups.setdefault((*key, str(number)) if alone else key, []).append(change)
    yield from groups.values()
