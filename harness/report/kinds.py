"""Every kind of report, and the one way to have it: `rendered(kind, report, view)`.

A kind is a module with `render(report, view)`, a pure function to the text of a file (or, for a folder, to
the texts of its files by name). It is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Literal, NamedTuple, TypeAlias

from .model import Report, narrowed

Rendered: TypeAlias = str | Mapping[str, str]


class View(NamedTuple):
    """How much of a run is told."""

    only_failures: bool = False
    detail: Literal["quiet", "normal", "verbose"] = "normal"


class Kind(NamedTuple):
    """A kind of report."""

    module: str
    what: str
    folder: bool = False
    """It is more than one file."""
    whole: bool = False
    """It is never narrowed to what failed: those who read it need the rest."""


KINDS: dict[str, Kind] = {
    "text": Kind("told", "what the terminal shows, without colour"),
    "json": Kind("json", "everything, for programs and for `loop-harness render`", whole=True),
    "junit": Kind("junit", "JUnit XML: a suite for each scenario, a case for each clause"),
    "markdown": Kind("markdown", "for a job's summary or a comment"),
    "github": Kind("github", "annotations of a GitHub workflow; write them to -"),
    "html": Kind("html", "one page for people: the matrix, and every run as a timeline"),
    "repro": Kind("repro", "a folder with a script for each failure that shows it alone", folder=True),
    "badge": Kind("badge", "the endpoint of a badge on shields.io", whole=True),
}


def rendered(kind: str, report: Report, view: View | None = None) -> Rendered:
    """The report as one kind. Raises `KeyError` where there is no such kind."""
    chosen = KINDS[kind]
    view = view or View()
    module = import_module(f".{chosen.module}", __package__)
    if view.only_failures and not chosen.whole:
        report = narrowed(report)
    text: Rendered = module.render(report, view)
    return text
