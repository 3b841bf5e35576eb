"""A new profile from the rules: `python -m harness.profiles core` writes the next `core-N.yaml`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
import yaml

from ..clauses import CLAUSES, Clause
from ..scenario.discover import find_scenarios
from ..scenario.model import Scenario
from .model import FOLDER, NotScored, Profile, Variant

RULES = FOLDER / "rules.yaml"
_HEAD = "# Frozen: tests compare it with its digest. What is to be otherwise is the next number's.\n"


class Rules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a line of profiles is put together from whatever there is."""

    title: str
    clauses: list[str]
    """Ids and patterns of what is scored; `!` before one takes it out again."""
    scenarios: list[str]
    """Patterns of what is played, where a scored clause is named there; `!` takes out."""
    not_scored: list[NotScored]
    """Patterns with reasons, for all the rest."""


def put_together(
    name: str, rules: Rules, clauses: Mapping[str, Clause] = CLAUSES, scenarios: Iterable[Scenario] = ()
) -> Profile:
    """The profile that the rules make of these clauses and scenarios.

    Raises `ValueError` where a clause is neither scored nor left out for a reason.
    """
    scored = {each.id: each.level for each in clauses.values() if _fits(each.id, rules.clauses)}
    rest = [each for each in clauses if each not in scored]
    reasons = [
        NotScored(clauses=[each for each in rest if _fits(each, why.clauses)], why=why.why)
        for why in rules.not_scored
    ]
    told = [each for why in reasons for each in why.clauses]
    wrong = [each for each in rest if told.count(each) != 1]
    if wrong:
        raise ValueError(f"{name}: {', '.join(wrong)}: neither scored nor left out for exactly one reason")
    played: dict[str, list[Variant]] = {
        each.id: ["sse" if variant == "sse" else "json" for variant in each.variants]
        for each in scenarios
        if _fits(each.id, rules.scenarios) and scored.keys() & set(each.clauses)
    }
    return Profile(name=name, title=rules.title, clauses=scored, scenarios=played, not_scored=reasons)


def make(line: str, folder: Path = FOLDER, rules: Path = RULES) -> Path:
    """Write the next profile of a line (`core`) into the folder. Raises `ValueError`."""
    lines = msgspec.convert(yaml.safe_load(rules.read_text(encoding="utf-8")), dict[str, Rules])
    if line not in lines:
        raise ValueError(f"there are rules for {', '.join(lines)}, and none for {line}")
    frozen = folder / "frozen.yaml"
    before = frozen.read_text(encoding="utf-8") if frozen.exists() else ""
    numbers = [int(n) for n in re.findall(rf"^{re.escape(line)}-(\d+):", before, re.MULTILINE)]
    profile = put_together(f"{line}-{max(numbers, default=0) + 1}", lines[line], scenarios=find_scenarios())
    path = folder / f"{profile.name}.yaml"
    with path.open("x", encoding="utf-8") as file:
        file.write(_HEAD + _text(profile))
    frozen.write_text(f"{before}{profile.name}: {profile.digest}\n", encoding="utf-8")
    return path


def _fits(name: str, patterns: Sequence[str]) -> bool:
    """Whether the last pattern that matches lets it in."""
    fits = False
    for pattern in patterns:
        if fnmatchcase(name, pattern.removeprefix("!")):
            fits = not pattern.startswith("!")
    return fits


def _text(profile: Profile) -> str:
    values = msgspec.to_builtins(profile)
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=108, default_flow_style=None)


def main(arguments: Sequence[str]) -> int:
    """Make a profile for each line that is named."""
    if not arguments:
        sys.stderr.write("python -m harness.profiles LINE…, such as core: makes the next profile of each\n")
        return 2
    for line in arguments:
        try:
            sys.stdout.write(f"{make(line)}\n")
        except ValueError as error:
            sys.stderr.write(f"{error}\n")
            return 2
    return 0
