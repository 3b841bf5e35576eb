"""What our own recordings tell beside what vcrpy keeps: when it was asked, and when each piece came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from .model import EXTRA, Piece


class Extra(msgspec.Struct, frozen=True):
    """Of one interaction. A file of vcrpy's own has none of it."""

    asked_at: float | None = None
    head_at: float | None = None
    pieces: list[Piece] = []
    broken: bool = False


class Told(msgspec.Struct, frozen=True):
    """Of the whole file."""

    secrets_checked: bool = False
    made_by: str = ""


class _Pace(msgspec.Struct, frozen=True):
    asked_at: float | None = None
    head_at: float | None = None
    pieces: list[tuple[float, int]] = []
    broken: bool = False


def extra_of(written: Mapping[str, Any], size: int) -> Extra:
    """Of an interaction whose response's body has `size` bytes. Raises `ValueError` for what is no pace.

    A body that was edited by hand has no pace any more.
    """
    found = _converted(written.get(EXTRA) or {}, _Pace)
    whole = sum(size for _, size in found.pieces) == size and all(size >= 0 for _, size in found.pieces)
    pieces = [Piece(at, size) for at, size in found.pieces] if whole else []
    return Extra(found.asked_at, found.head_at, pieces, found.broken)


def told_by(written: Mapping[str, Any]) -> Told:
    """Of the file. Raises `ValueError` for what we would not have written."""
    return _converted(written.get(EXTRA) or {}, Told)


_T = TypeVar("_T")


def _converted(written: Any, kind: type[_T]) -> _T:
    try:
        return msgspec.convert(written, kind)
    except msgspec.ValidationError as error:
        raise ValueError(f"its `{EXTRA}`: {error}") from None
