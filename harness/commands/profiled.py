"""`--profile NAME`: a frozen set of clauses and scenarios in place of all there are."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from . import Stop

if TYPE_CHECKING:
    from ..profiles.model import Profile
    from ..report.lines import Line

_EVERY = "all of them"
"""What `--profile` alone means, where it may stand alone."""


def add_profile(parser: ArgumentParser, *, alone: bool = False) -> None:
    """The option; `alone`: it may stand without a name, which asks for the names."""
    told = "a frozen set of clauses and scenarios: core-1"
    if alone:
        parser.add_argument(
            "--profile",
            nargs="?",
            const=_EVERY,
            metavar="NAME",
            help=f"{told}; without NAME: which there are",
        )
    else:
        parser.add_argument("--profile", metavar="NAME", help=told)


def profile_of(options: Namespace) -> Profile | None:
    """The profile that is asked for. Raises `Stop`."""
    if options.profile is None:
        return None
    from ..profiles.model import profile, profile_names
    from ..scenario.problems import nearest

    names = profile_names()
    if options.profile not in names:
        raise Stop(f"--profile {options.profile}: there is no such profile{nearest(options.profile, names)}")
    if options.scenarios:
        raise Stop(
            "--scenarios: what is played in a profile is fixed; play your own scenarios without --profile"
        )
    return profile(options.profile)


def asks_for_names(options: Namespace) -> bool:
    """Whether `--profile` stands alone."""
    return bool(options.profile == _EVERY)


def name_lines() -> Iterator[Line]:
    """Which profiles there are."""
    from ..profiles.model import profile, profile_names
    from ..report.lines import labelled

    width = max(map(len, profile_names())) + 2
    for name in profile_names():
        yield from labelled(name, profile(name).title, indent=0, column=width)


def profile_lines(profile: Profile) -> Iterator[Line]:
    """What a profile scores, and what it leaves out and why."""
    from ..clauses import CLAUSES
    from ..profiles.score import newer
    from ..report.lines import Line, labelled

    yield Line("")
    yield Line(f"{profile.name}: {profile.title}", "head")
    for level in ("MUST", "SHOULD", "MAY"):
        clauses = [name for name, of in profile.clauses.items() if of == level]
        if clauses:
            yield from labelled(level, ", ".join(clauses), column=12)
    for left in profile.not_scored:
        yield from labelled("not scored", f"{', '.join(left.clauses)}: {left.why}", column=12)
    if late := newer(profile, CLAUSES):
        yield from labelled("not scored", f"{', '.join(late)}: newer than the profile", column=12)
