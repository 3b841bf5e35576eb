"""`--report json:PATH`: looked at before a command begins, written when it is done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..report import json as json_report
from . import Stop


def report_path(written: str) -> Path:
    """The file a report goes to. Raises `Stop` where it could not be written."""
    kind, _, path = written.partition(":")
    if kind != "json" or not path:
        raise Stop(f"--report {written}: write json:PATH")
    if not Path(path).parent.is_dir():
        raise Stop(f"--report {written}: there is no folder {Path(path).parent}")
    try:
        json_report.check_writable(Path(path))
    except OSError as error:
        raise Stop(f"--report {written}: {error.strerror}") from error
    return Path(path)


def write_report(path: Path, content: dict[str, Any]) -> None:
    """Write a report. Raises `Stop`."""
    try:
        json_report.write(path, content)
    except OSError as error:
        raise Stop(f"--report json:{path}: {error.strerror}") from error
