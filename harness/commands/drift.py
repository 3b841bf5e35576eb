"""`drift PATH…`: which recordings are behind the installed client, the API of today, or the loop."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..cassettes.drift import Drift, Finding, drift_of, key_of
from ..cassettes.exchanges import talk_of
from ..cassettes.find import find
from ..cassettes.problems import CassetteError, Problem
from ..history import HistoryError, RequestSeen
from ..loops.sdk_types import version
from ..reading import histories_among, read_history
from ..report.lines import Line, counted, labelled
from . import BROKEN, CANNOT_BE_DRIVEN, Stop
from .terminal import show

_MEANING = {
    "sdk": "the types of the installed client do not take it",
    "unknown": "it has keys that no reply of the provider has",
    "unsent": "the request was not sent in the fresh run",
    "changed": "replies of today have other keys",
}
_STYLE = {"sdk": "bad", "unknown": "bad", "unsent": "bad", "changed": "warn"}


def run(options: Namespace) -> int:
    """Say what is behind; 1 where that matters, with `strict` also keys that came since.

    What cannot be read keeps nothing else from being looked at: it is told at the end, with the code 2.
    """
    sent = _sent([Path(path) for path in options.against]) if options.against else None
    try:
        found = find([Path(path) for path in options.paths])
    except CassetteError as error:
        raise Stop(str(error)) from error
    drifts = [drift_of(cassette, sent) for cassette in found.sound()]
    if found.problems and not drifts:
        raise Stop(_unread(found.problems))
    if not any(drift.requests for drift in drifts):
        raise Stop(f"no request of the Messages API in {', '.join(options.paths)}", CANNOT_BE_DRIVEN)
    show(_lines(drifts, compared=sent is not None))
    if found.problems:
        raise Stop(_unread(found.problems))
    matters = set(_MEANING) if options.strict else set(_MEANING) - {"changed"}
    return BROKEN if any(each.kind in matters for drift in drifts for each in drift.findings) else 0


def _unread(problems: Sequence[Problem]) -> str:
    return "\n".join(["what cannot be read was not looked at:", *map(str, problems)])


def _sent(paths: Sequence[Path]) -> frozenset[bytes]:
    """The requests of a fresh run, from its recordings and histories."""
    stored, others = histories_among(paths)
    found: set[bytes] = set()
    try:
        for path in stored:
            seen = [event for event in read_history(path) if isinstance(event, RequestSeen)]
            found |= {key_of(event.body) for event in seen if isinstance(event.body, dict)}
        for cassette in find(others).read():
            found |= {key_of(one.body) for one in talk_of(cassette).exchanges}
    except (CassetteError, HistoryError) as error:
        raise Stop(f"--against: {error}") from error
    if not found:
        raise Stop(f"--against: no request of the Messages API in {', '.join(map(str, paths))}")
    return frozenset(found)


def _lines(drifts: Sequence[Drift], *, compared: bool) -> Iterator[Line]:
    """What is the same in several places is said once."""
    for kind, meaning in _MEANING.items():
        places: dict[str, list[str]] = {}
        for drift in drifts:
            for text, where in _told(drift, [each for each in drift.findings if each.kind == kind]):
                places.setdefault(text, []).append(where)
        if places:
            yield Line(f"{kind}: {meaning}", _STYLE[kind])
        for text, found in places.items():
            if kind == "changed":
                yield from labelled("", f"{text}: {counted(len(found), 'reply', 'replies')}", 0, 2)
                continue
            yield from labelled("", f"{text}:", 0, 2)
            yield from (Line(f"    {each}") for each in found)
    yield from _sum(drifts, compared=compared)


def _told(drift: Drift, found: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    if found and found[0].kind == "unsent" and len(found) == drift.requests:
        yield "nobody sends any request of these recordings any more", str(drift.path)
        return
    for each in found:
        yield each.text, drift.where(each)


def _sum(drifts: Sequence[Drift], *, compared: bool) -> Iterator[Line]:
    counts = {
        kind: sum(len({each.number for each in drift.findings if each.kind == kind}) for drift in drifts)
        for kind in _MEANING
    }
    replies = counted(sum(drift.replies for drift in drifts), "reply", "replies")
    yield Line(
        f"{counted(len(drifts), 'recording')}, {replies}: {counts['sdk']} that anthropic {version()} does "
        f"not take, {counts['unknown']} with unknown keys, {counts['changed']} with other keys than today's"
    )
    if compared:
        requests = sum(drift.requests for drift in drifts)
        yield Line(f"{counts['unsent']} of {counted(requests, 'request')} not sent any more")
