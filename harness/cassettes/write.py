"""A cassette as the YAML of vcrpy: what vcrpy has no place for goes where it does not look.

Bodies are written so that a diff of the file can be read: a stream as lines, JSON as the one line it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from .bodies import still_packed
from .model import EXTRA, Headers, Interaction, Response, header

FORMAT = 1
"""Of what is kept under `EXTRA`."""

_WIDE = 1 << 30
"""A line is never folded: what belongs to one line of a body stays on one line of the file."""

_MARKS = ("\r", "\x85", "\u2028", "\u2029", "\ufeff", "\t")
"""Characters that only quotes with escapes keep."""

_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Text(str):
    """A body, in lines where it has lines."""

    __slots__ = ()


class _Dumper(_Base):  # type: ignore[misc]
    """Writes lines as lines, and never an alias: equal headers are not the same headers."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True


def _represent_text(dumper: Any, text: _Text) -> Any:
    # Literal blocks keep every byte of plain text, but take other line breaks than \n for one; the emitter
    # falls back to quotes by itself where a line ends in spaces.
    marked = any(mark in text for mark in _MARKS)
    style = '"' if marked else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style=style)


_Dumper.add_representer(_Text, _represent_text)


def head(made_by: str = "", *, empty: bool) -> str:
    """What stands in front of the interactions. vcrpy wants a list, so an empty one is written as such."""
    told: dict[str, Any] = {"format": FORMAT, "secrets_checked": True}
    if made_by:
        told["made_by"] = made_by
    return _dump({"version": 1, EXTRA: told}) + ("interactions: []\n" if empty else "interactions:\n")


def item(interaction: Interaction) -> str:
    """One interaction as an item of the list."""
    request, response = interaction.request, interaction.response
    written = {
        "request": {
            "method": request.method,
            "uri": request.uri,
            "headers": _headers(request.headers),
            "body": _body(request.body),
        },
        "response": {
            "status": {"code": response.status, "message": response.reason},
            "headers": _headers(_of_the_body(response)),
            "body": {"string": _body(response.body)},
        },
    }
    if extra := _extra(interaction, response):
        written[EXTRA] = extra
    return _dump([written])


def write(path: Path, interactions: Sequence[Interaction], made_by: str = "") -> None:
    """Write a whole cassette; a reader finds the old file or this one. Raises `OSError`."""
    from .tape import Tape

    with Tape(path, made_by=made_by) as tape:
        for interaction in interactions:
            tape.add(interaction)
        tape.keep()


def _extra(interaction: Interaction, response: Response) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    if interaction.asked_at is not None:
        extra["asked_at"] = _seconds(interaction.asked_at)
    if response.head_at is not None:
        extra["head_at"] = _seconds(response.head_at)
    if response.pieces:
        extra["pieces"] = [[_seconds(piece.at), piece.size] for piece in response.pieces]
    if response.broken:
        extra["broken"] = True
    return extra


def _of_the_body(response: Response) -> Headers:
    """The headers without those that speak of a compression the body has no more."""
    encoding = header(response.headers, "content-encoding")
    if not encoding or still_packed(response.body, encoding):
        return response.headers
    untrue = ("content-encoding", "content-length")
    return [pair for pair in response.headers if pair[0].lower() not in untrue]


def _headers(headers: Headers) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in headers:
        found.setdefault(name, []).append(value)
    return found


def _body(body: bytes) -> str | bytes | None:
    if not body:
        return ""
    try:
        return _Text(body.decode("utf-8"))
    except UnicodeDecodeError:
        return body


def _seconds(value: float) -> float:
    return round(value, 4)


def _dump(value: Any) -> str:
    text: str = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDE, default_flow_style=None
    )
    # After a text that ends in empty lines, libyaml marks the end of the document; ours goes on.
    return text.removesuffix("...\n") if text.endswith("\n...\n") else text
