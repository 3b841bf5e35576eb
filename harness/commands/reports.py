"""`--report KIND:PATH`: which reports are wanted, and writing them."""

from __future__ import annotations

import difflib
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..report.files import check_writable, write, write_folder
from ..report.kinds import KINDS, View, rendered
from ..report.model import Report
from . import Stop, terminal

OUTPUT = "-"
"""In place of a path: the standard output."""
_BESIDE = ("github",)
"""Kinds that are meant to stand between the other lines of an output."""


class Wanted(NamedTuple):
    """A report to write."""

    kind: str
    path: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.path}"


def view_of(options: Namespace) -> View:
    """How much is to be told."""
    if options.quiet and options.verbose:
        raise Stop("--quiet or --verbose, not both")
    view = View(only_failures=options.only_failures)
    if options.quiet or options.verbose:
        view = view._replace(detail="quiet" if options.quiet else "verbose")
    return view


def wanted_reports(written: Sequence[str], option: str = "--report ") -> list[Wanted]:
    """The reports asked for, each of which can be written. Raises `Stop`.

    Where one goes to the standard output, everything else that is shown goes to the standard error.
    """
    wanted = [_wanted(each, option) for each in written]
    to_output = [each for each in wanted if each.path == OUTPUT]
    if len(to_output) > 1:
        raise Stop(f"{option}{to_output[1]}: {to_output[0]} is written to the standard output already")
    paths = [each.path for each in wanted if each.path != OUTPUT]
    twice = next((each for each in wanted if paths.count(each.path) > 1), None)
    if twice:
        raise Stop(f"{option}{twice}: another report is written to the same place")
    if to_output and to_output[0].kind not in _BESIDE:
        terminal.to_stderr()
    return wanted


def write_reports(wanted: Iterable[Wanted], report: Report, view: View, option: str = "--report ") -> None:
    """Write each of them. Raises `Stop` for the first that cannot be written, when the others are."""
    failed: list[str] = []
    for each in wanted:
        text = rendered(each.kind, report, view)
        try:
            if isinstance(text, str):
                _put(each.path, text)
            else:
                write_folder(Path(each.path), text)
        except OSError as error:
            failed.append(f"{option}{each}: {error.strerror}")
    if failed:
        raise Stop("\n".join(failed))


def _put(path: str, text: str) -> None:
    if path == OUTPUT:
        terminal.write(text, sys.stdout)
    else:
        write(Path(path), text)


def _wanted(written: str, option: str) -> Wanted:
    kind, _, path = written.partition(":")
    if kind not in KINDS or not path:
        near = difflib.get_close_matches(kind, KINDS, n=1) if kind not in KINDS else []
        hint = f"; did you mean {near[0]}:{path or 'PATH'}?" if near else ""
        raise Stop(f"{option}{written}: write KIND:PATH, where KIND is one of {', '.join(KINDS)}{hint}")
    folder = KINDS[kind].folder
    if path == OUTPUT:
        if folder:
            raise Stop(f"{option}{written}: {kind} takes a folder")
        return Wanted(kind, path)
    if not folder and not Path(path).parent.is_dir():
        raise Stop(f"{option}{written}: there is no folder {Path(path).parent}")
    try:
        check_writable(Path(path), folder=folder)
    except OSError as error:
        raise Stop(f"{option}{written}: {error.strerror}") from error
    return Wanted(kind, path)
