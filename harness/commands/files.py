"""Files a command makes: never over what is there unasked, and whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..report.files import write
from . import Stop


def check_new(paths: Sequence[Path], *, force: bool) -> None:
    """Raise `Stop` where a file is there already, or its folder cannot be made."""
    there = [str(path) for path in paths if path.exists()]
    if there and not force:
        raise Stop(f"{', '.join(there)}: there already; --force replaces it")
    for folder in {path.parent for path in paths}:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Stop(f"{folder}: {error.strerror}") from error


def write_new(path: Path, text: str) -> None:
    """Write a file. Raises `Stop`."""
    try:
        write(path, text)
    except OSError as error:
        raise Stop(f"{path} cannot be written: {error.strerror}") from error
