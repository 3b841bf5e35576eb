"""`promote CASSETTE -o FILE`, `promote --from-history FILE -o FILE`: what happened becomes a scenario."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ..arrange import EvidenceError
from ..cassettes.conversations import Conversation, told_apart
from ..cassettes.exchanges import talk_of
from ..cassettes.model import Cassette
from ..cassettes.problems import CassetteError
from ..cassettes.promote import Options, Promoted, promote
from ..cassettes.read import read
from ..cassettes.redact import Redactor
from ..cassettes.rounds import Round, of_conversation, of_history
from ..cassettes.traffic import WIRE, history
from ..checks import registered
from ..clauses import CLAUSES
from ..history import AnyEvent, Began, HistoryError
from ..judge import Verdict, judge
from ..reading import read_history
from ..report.lines import Line, counted
from ..report.text import OWN
from ..scenario.problems import ScenarioError
from . import Stop
from .files import check_new, write_new
from .terminal import show, write

_NAME = re.compile(r"[A-Za-z0-9_.-]+")


class Source(msgspec.Struct, frozen=True):
    """One conversation, and what is known of it."""

    rounds: list[Round]
    origin: str
    broken: list[str]
    redactor: Redactor
    """Knows the secrets that were used there."""


def run(options: Namespace) -> int:
    """Write the scenarios, or print the one that was chosen."""
    if (options.cassette is None) is (options.from_history is None):
        raise Stop("name a recording, or a history with --from-history FILE")
    sources = _history(Path(options.from_history)) if options.from_history else _cassette(options)
    how = Options(seed=options.seed, keep_text=options.keep_text, shorten=options.shorten)
    if options.output is None:
        if len(sources) > 1:
            raise Stop(f"{_several(sources)}; choose one with --conversation N, or write them with -o FILE")
        write(_promoted(sources[0], "scenario", how).text)
        return 0
    paths = _paths(Path(options.output), len(sources))
    check_new(paths, force=options.force)
    made = [_promoted(source, path.stem, how) for source, path in zip(sources, paths, strict=True)]
    for path, promoted in zip(paths, made, strict=True):
        write_new(path, promoted.text)
    show(line for path, promoted in zip(paths, made, strict=True) for line in _told(path, promoted))
    return 0


def _told(path: Path, promoted: Promoted) -> Iterator[Line]:
    turns = promoted.scenario.turns
    steps = counted(sum(len(turn.script) for turn in turns), "step")
    yield Line(f"{path}: {counted(len(turns), 'turn')}, {steps}")
    yield from (Line(f"  {note}", "dim") for note in promoted.notes)


def _promoted(source: Source, name: str, how: Options) -> Promoted:
    try:
        return promote(source.rounds, source.origin, name, how, source.broken, source.redactor)
    except ScenarioError as error:
        raise Stop(f"{source.origin} cannot be said in a scenario:\n{error}") from error


def _paths(output: Path, count: int) -> list[Path]:
    if output.suffix not in (".yaml", ".yml") or not _NAME.fullmatch(output.stem):
        raise Stop(f"-o {output}: name a .yaml file with letters, digits, `-`, `_` and `.`")
    if count == 1:
        return [output]
    return [output.with_stem(f"{output.stem}-{number}") for number in range(1, count + 1)]


def _several(sources: Sequence[Source]) -> str:
    return f"the recording has {counted(len(sources), 'conversation')}"


def _cassette(options: Namespace) -> list[Source]:
    try:
        cassette = read(Path(options.cassette))
    except CassetteError as error:
        raise Stop(f"a recording cannot be used:\n{error}") from error
    redactor = Redactor()
    for each in cassette.interactions:
        redactor.learn_from(each.request.headers, each.request.uri)
        redactor.learn_from(each.response.headers)
    found = [_source(cassette, one, redactor) for one in told_apart(talk_of(cassette).exchanges)]
    if not found:
        raise Stop(f"{options.cassette}: no conversation with the Messages API is in it")
    if options.conversation is None:
        return found
    if options.conversation > len(found):
        raise Stop(f"--conversation {options.conversation}: {_several(found)}")
    return [found[options.conversation - 1]]


def _source(cassette: Cassette, conversation: Conversation, redactor: Redactor) -> Source:
    rounds = of_conversation(conversation)
    lines = [cassette.interactions[one.number - 1].line for one in rounds]
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines))}"
    checks = {clause: check for clause, check in registered().items() if clause in WIRE}
    verdict = judge(history(conversation, str(cassette.path)), checks=checks)
    return Source(rounds, f"{_shown(cassette.path)}, {where}", _broken(verdict), redactor)


def _history(path: Path) -> list[Source]:
    try:
        events: list[AnyEvent] = read_history(path)
        rounds = of_history(events)
    except (HistoryError, EvidenceError) as error:
        raise Stop(str(error)) from error
    if not rounds:
        raise Stop(f"{path}: no request of a conversation is in it")
    began = events[0]
    name = f" of {began.scenario_id}" if isinstance(began, Began) else ""
    return [Source(rounds, f"the history{name} in {_shown(path)}", _broken(judge(events)), Redactor())]


def _broken(verdict: Verdict) -> list[str]:
    found = [check.clause for check in verdict.checks if check.grade == "fail"]
    return [clause for clause in found if clause in CLAUSES and clause != OWN]


def _shown(path: Path) -> str:
    """The path as it may stand in a file for others: where it begins is nobody's business."""
    return path.name if path.is_absolute() or ".." in path.parts else path.as_posix()
