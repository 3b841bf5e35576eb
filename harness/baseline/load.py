"""A baseline file to entries, with every problem of it at once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from ..scenario.load import shown_path
from ..scenario.model import Scenario
from ..scenario.nodes import compose, read_bytes
from ..scenario.problems import ScenarioError, Spot, nearest
from ..scenario.select import VARIANTS
from ..scenario.shape import Reader
from .model import BaselineFile, Entry
from .moved import Moved, moved
from .versions import version_problem

_SCENARIO = re.compile(r"(?P<name>.*?)(?:\[(?P<variant>[^\[\]]*)\])?")


class Known(msgspec.Struct, frozen=True):
    """What entries can name."""

    scenarios: Mapping[str, Collection[str]]
    """The variants of each scenario."""
    clauses: Collection[str]

    @classmethod
    def of(cls, scenarios: Iterable[Scenario], clauses: Collection[str]) -> Known:
        """What there is in these scenarios and this catalogue."""
        return cls({scenario.id: scenario.variants for scenario in scenarios}, clauses)


class Baseline(msgspec.Struct, kw_only=True):
    """A baseline that was read and makes sense."""

    path: str
    text: str
    coverage: dict[str, int]
    entries: list[Entry]
    """In the order of the file; a variant written as `[sse]` stands in `variant`, and ids are today's."""
    spots: list[Spot]
    """Where each entry stands."""
    notes: list[str]
    """What was renamed since it was written."""

    def place(self, index: int) -> str:
        """`conformance.yaml:12`."""
        return f"{self.path}:{self.spots[index].line}"


def load(path: Path, known: Known) -> Baseline:
    """The baseline in a file. Raises `ScenarioError` with all its problems: what matches nothing is one."""
    shown = shown_path(path)
    data = read_bytes(path)
    reader = Reader(shown)
    values = reader.read(compose(data, shown), BaselineFile) if _says_something(data) else {}
    raw = [entry or {} for entry in values.get("known", [])]
    renamed = moved()
    for index, entry in enumerate(raw):
        _check(entry, index, reader, known, renamed)
    if reader.problems:
        raise ScenarioError(reader.problems)
    spots = [reader.spots[("known", index)] for index in range(len(raw))]
    entries = [_entry(entry, renamed) for entry in raw]
    notes = [
        f"{shown}:{spot.line}: {note}"
        for spot, entry in zip(spots, raw, strict=True)
        for note in renamed.notes(entry["scenario"], entry.get("clause") or "")
    ]
    return Baseline(
        path=shown,
        text=data.decode("utf-8-sig"),
        coverage=values.get("coverage", {}),
        entries=entries,
        spots=spots,
        notes=notes,
    )


def empty(path: Path) -> Baseline:
    """The baseline of a file that does not exist yet."""
    return Baseline(path=shown_path(path), text="", coverage={}, entries=[], spots=[], notes=[])


def _says_something(data: bytes) -> bool:
    lines = (line.strip() for line in data.splitlines())
    return any(line and not line.startswith((b"#", b"---")) for line in lines)


def _entry(raw: dict[str, object], renamed: Moved) -> Entry:
    entry = msgspec.convert(raw, Entry)
    name, variant = split(entry.scenario)
    return msgspec.structs.replace(
        entry,
        scenario=renamed.scenario(name),
        clause=renamed.clause(entry.clause) if entry.clause else None,
        variant=entry.variant or variant,
    )


def split(written: str) -> tuple[str, str | None]:
    """The scenario and, where it is named, the variant: `pause/*[sse]` is `pause/*` and `sse`."""
    parsed = _SCENARIO.fullmatch(written)
    return (parsed["name"], parsed["variant"]) if parsed else (written, None)


def _check(raw: dict[str, object], index: int, reader: Reader, known: Known, renamed: Moved) -> None:
    """Note what is wrong with the values that are written; what is missing is noted already."""

    def note(key: str, message: str) -> None:
        reader.note(("known", index, key), message)

    name, variant = split(str(raw.get("scenario", "")))
    wanted = raw.get("variant") or variant
    if variant is not None and variant not in VARIANTS:
        note("scenario", f"unknown variant `{variant}`{nearest(variant, VARIANTS)}")
        wanted = None
    elif variant and raw.get("variant") not in (None, variant):
        note("variant", f"the scenario is written with [{variant}]; leave `variant` out")
    if "scenario" in raw and name not in renamed.scenarios:
        for message in _scenario_problems(renamed.scenario(name), wanted, known):
            note("scenario", message)
    clause = raw.get("clause")
    if isinstance(clause, str) and clause not in renamed.clauses:
        now = renamed.clause(clause)
        if not any(fnmatchcase(each, now) for each in known.clauses):
            note("clause", f"`{clause}` is no clause{nearest(clause, known.clauses, listed=0)}")
    if not str(raw.get("reason", "-")).strip():
        note("reason", "say why this is known and not mended")
    when = raw.get("when")
    for package, versions in when.items() if isinstance(when, dict) else ():
        if problem := version_problem(versions):
            reader.note(("known", index, "when", package), problem)


def _scenario_problems(name: str, variant: object, known: Known) -> Iterable[str]:
    found = [each for each in known.scenarios if fnmatchcase(each, name)]
    if not found:
        yield f"`{name}` matches no scenario{nearest(name, known.scenarios, listed=0)}"
    elif variant and not any(variant in known.scenarios[each] for each in found):
        yield f"`{name}` has no variant [{variant}]"
