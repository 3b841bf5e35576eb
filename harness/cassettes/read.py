"""Reads a recording, whoever made it: vcrpy of any version, pytest-recording, custom serializers, others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from .bodies import raw_body, unpacked
from .extras import extra_of, told_by
from .model import Cassette, Headers, Interaction, Request, Response, header
from .problems import CassetteError, NotACassetteError, Problem, Spot
from .source import load

__all__ = ["SUFFIXES", "CassetteError", "NotACassetteError", "interaction_of", "read"]

SUFFIXES = (".yaml", ".yml", ".json", ".yaml.gz", ".yml.gz", ".json.gz")
"""How the names of recordings end."""
_T = TypeVar("_T")


def read(path: Path) -> Cassette:
    """The recording in the file at `path`.

    Raises `CassetteError` with every problem and its place; `NotACassetteError` where the file is something
    else altogether.
    """
    source = load(path)
    found: list[Interaction] = []
    problems: list[Problem] = []
    for number, (written, spot) in enumerate(zip(source.interactions, source.spots, strict=True), start=1):
        try:
            found.append(_interaction(written, spot))
        except _WrongError as error:
            problems += [Problem(str(path), spot, f"interaction {number}: {what}") for what in error.problems]
    try:
        told = told_by(source.extra)
    except ValueError as error:
        problems.append(Problem(str(path), Spot(1, 1), str(error)))
    if problems:
        raise CassetteError(problems)
    return Cassette(path=path, interactions=found, secrets_checked=told.secrets_checked, made_by=told.made_by)


def interaction_of(request: Mapping[str, Any], response: Mapping[str, Any]) -> Interaction:
    """An interaction that is in no file, as recorders write both halves. Raises `ValueError`."""
    return Interaction(request=_request(request), response=_response(response))


class _WrongError(Exception):
    """What is wrong with one interaction."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = problems


def _interaction(written: Any, spot: Spot) -> Interaction:
    """Raises `_WrongError` with the problems of all its parts."""
    problems: list[str] = []

    def part(read: Callable[[], _T]) -> _T | None:
        try:
            return read()
        except ValueError as error:
            problems.append(str(error))
            return None

    request = part(lambda: _request(_half(written, "request")))
    answered = part(lambda: _response(_half(written, "response")))
    size = len(answered.body) if answered else 0
    extra = part(lambda: extra_of(written if isinstance(written, Mapping) else {}, size))
    if request is None or answered is None or extra is None:
        raise _WrongError(problems)
    answered = msgspec.structs.replace(
        answered, head_at=extra.head_at, pieces=extra.pieces, broken=answered.broken or extra.broken
    )
    return Interaction(request=request, response=answered, asked_at=extra.asked_at, line=spot.line)


def _half(written: Any, name: str) -> Mapping[str, Any]:
    half = written.get(name) if isinstance(written, Mapping) else None
    if isinstance(half, Mapping) and isinstance(half.get("state"), Mapping):
        half = half["state"]  # an object of some class, written out
    if not isinstance(half, Mapping):
        raise ValueError(f"it has no `{name}`")  # noqa: TRY004 - of the file, not of an argument
    return half


def _request(half: Mapping[str, Any]) -> Request:
    headers = _headers(half.get("headers"))
    body = raw_body(half, header(headers, "content-type"))
    return Request(
        method=str(half.get("method") or "GET").upper(),
        uri=_uri(half),
        headers=headers,
        body=unpacked(body, header(headers, "content-encoding")).body,
    )


def _uri(half: Mapping[str, Any]) -> str:
    uri = half.get("uri") or half.get("url")
    if isinstance(uri, str):
        return uri
    if isinstance(half.get("host"), str):
        # Before vcrpy 1.0 the parts of the address stood on their own.
        scheme, port = half.get("protocol") or "https", half.get("port")
        default = {"https": 443, "http": 80}.get(str(scheme))
        place = f":{port}" if port and port != default else ""
        return f"{scheme}://{half['host']}{place}{half.get('path') or '/'}"
    raise ValueError("its request has no `uri`")


def _response(half: Mapping[str, Any]) -> Response:
    headers = _headers(half.get("headers"))
    status, reason = _status(half)
    found = unpacked(raw_body(half, header(headers, "content-type")), header(headers, "content-encoding"))
    return Response(status=status, reason=reason, headers=headers, body=found.body, broken=found.broken)


def _status(half: Mapping[str, Any]) -> tuple[int, str]:
    status: Any = half.get("status")
    reason = ""
    if isinstance(status, Mapping):
        status, reason = status.get("code"), status.get("message") or ""
    elif isinstance(status, str):
        status, _, reason = status.partition(" ")
    for code in (half.get("status_code"), half.get("code"), status):
        if isinstance(code, (int, str)) and str(code).isdecimal():
            return int(code), str(reason)
    raise ValueError("its response has no `status`")


def _headers(written: Any) -> Headers:
    """Headers in the forms recorders give them: values alone or in lists, pairs, one text."""
    if isinstance(written, Mapping) and isinstance(written.get("state"), Mapping):
        written = written["state"]
    if isinstance(written, Mapping):
        pairs = list(written.items())
    elif isinstance(written, (list, tuple)):
        pairs = [pair for pair in _flat(written) if len(pair) == 2]
    else:
        pairs = []
    return [
        (str(name), _text(value))
        for name, values in pairs
        for value in (values if isinstance(values, (list, tuple)) else [values])
    ]


def _flat(written: list[Any] | tuple[Any, ...]) -> list[Any]:
    """Pairs, also where a set of them is wrapped in a list once more, as for the arguments of its class."""
    found: list[Any] = []
    for one in written:
        if isinstance(one, Mapping):
            found += one.items()
        elif isinstance(one, (list, tuple)):
            nested = bool(one) and all(isinstance(each, (list, tuple)) for each in one)
            found += _flat(one) if nested else [tuple(one)]
    return found


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else "" if value is None else str(value)
