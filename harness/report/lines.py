"""A line of a report: text, and what kind of line it is. Colour is added where there is a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

WIDTH = 100
"""Columns a report is written for."""

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


class Line(NamedTuple):
    """One line. `style` is `bad`, `warn`, `good`, `dim`, `head`, `added`, `removed` or nothing."""

    text: str
    style: str = ""


def labelled(label: str, text: str, indent: int = 2, column: int = 10) -> Iterator[Line]:
    """`text` beside `label`, its further lines and wrapped parts below its start."""
    start = " " * indent + label.ljust(column)
    rest = " " * len(start)
    for number, paragraph in enumerate(text.splitlines() or [""]):
        wrapped = textwrap.wrap(
            paragraph, WIDTH - len(rest), break_long_words=False, break_on_hyphens=False
        ) or [""]
        for part, words in enumerate(wrapped):
            yield Line((start if number == part == 0 else rest) + words)


def shortened(text: str, limit: int = 60) -> str:
    """`text` on one line, cut with an ellipsis where it is longer than `limit`."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def visible(text: str) -> str:
    """`text` for a terminal: what a loop said is shown there and moves nothing, whatever it holds."""
    return text.translate(_CONTROLS)


def counted(number: int, what: str, many: str = "") -> str:
    """`1 message`, `2 messages`."""
    return f"{number} {what if number == 1 else many or what + 's'}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """`a, b, c and 12 more`."""
    said = ", ".join(names[:most])
    return said if len(names) <= most else f"{said} and {len(names) - most} more"
