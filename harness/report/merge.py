"""Several reports as one: the shards of a run put together, and the loops of several runs side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from ..runner import CaseResult
from .lines import counted, listed
from .model import LoopReport, Report, covered


class MergeError(Exception):
    """Reports that make no whole: the message says which, why, and what instead."""


class Stored(NamedTuple):
    """A report, and what an error calls it."""

    name: str
    report: Report


class _Part(NamedTuple):
    """What one report has of a loop."""

    file: str
    loop: LoopReport


def merged(stored: Sequence[Stored]) -> Report:
    """One report of all of it, the loops in the order in which they come. Raises `MergeError`.

    Shards become what the undivided run would have stored: the same results in the same order. One that is
    missing is an error, for a report that lacks it would look greener than the loop is.
    """
    versions = {each.report.version: each.name for each in stored}
    if len(versions) > 1:
        told = ", ".join(f"{name} by {version}" for version, name in versions.items())
        raise MergeError(f"judged by different versions of loop-harness: {told}; judge them by one")
    loops: dict[str, list[_Part]] = {}
    for each in stored:
        for loop in each.report.loops:
            loops.setdefault(loop.name, []).append(_Part(each.name, loop))
    return Report(
        version=next(iter(versions), ""),
        made=max((each.report.made for each in stored), default=""),
        loops=[_together(parts) for parts in loops.values()],
    )


def _together(parts: Sequence[_Part]) -> LoopReport:
    first = parts[0].loop
    if len(parts) == 1 and not first.shard:
        return first
    undriven = [part for part in parts if part.loop.problem]
    for part in parts[1:]:
        _check_alike(parts[0], part)
    if undriven:
        return msgspec.structs.replace(undriven[0].loop, shard="", cases=[])
    results = _each_once(parts)
    unplayed = {case for part in parts for case in part.loop.unplayed}
    missing = [case for case in first.cases if case not in results and case not in unplayed]
    if missing:
        there = ", ".join(part.loop.shard for part in parts)
        raise MergeError(
            f"{first.name}: {counted(len(missing), 'case')} of the run in no report: {listed(missing, 3)}; "
            f"there {'is' if len(parts) == 1 else 'are'} shard {there}, add the others"
        )
    ordered = [results[case] for case in first.cases if case in results]
    return msgspec.structs.replace(
        first,
        shard="",
        cases=[],
        unplayed=[case for case in first.cases if case not in results],
        exposes=_union(part.loop.exposes for part in parts),
        notes=_union(part.loop.notes for part in parts),
        coverage=covered(ordered, first.profile),
        results=ordered,
    )


def _check_alike(one: _Part, other: _Part) -> None:
    """Raise `MergeError` where these are no shards of one run."""
    name, files = one.loop.name, f"{one.file} and {other.file}"
    if not one.loop.shard or not other.loop.shard:
        raise MergeError(f"{name}: it is in {files}; give one of them another name, --loop NAME=…")
    for what in ("target", "seed", "profile"):
        values = [getattr(part.loop, what) for part in (one, other)]
        if values[0] != values[1]:
            raise MergeError(
                f"{name}: {files} are of different runs: the {what} is {values[0]!r} and {values[1]!r}"
            )
    for file, loop in (one, other):
        if loop.unplayed and not loop.cases:
            raise MergeError(f"{name}: {file} was cut short before anything was played; run that shard again")
    if not one.loop.problem and not other.loop.problem and one.loop.cases != other.loop.cases:
        raise MergeError(f"{name}: {files} are shards of different runs: their cases are not the same")


def _each_once(parts: Iterable[_Part]) -> dict[str, CaseResult]:
    found: dict[str, CaseResult] = {}
    files: dict[str, str] = {}
    for file, loop in parts:
        for result in loop.results:
            if result.id in found:
                both = f"{files[result.id]} and {file}"
                raise MergeError(f"{loop.name}: {result.id} is in {both}; leave one of them out")
            found[result.id], files[result.id] = result, file
    return found


def _union(lists: Iterable[list[str]]) -> list[str]:
    def each() -> Iterator[str]:
        for some in lists:
            yield from some

    return list(dict.fromkeys(each()))
