"""What a profile holds, and reading it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
import yaml

from ..clauses import CLAUSES, Clause, Level

Variant: TypeAlias = Literal["json", "sse"]
FOLDER = Path(__file__).parent
FROZEN = FOLDER / "frozen.yaml"


class NotScored(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Clauses that were known when the profile was made, and that it leaves out."""

    clauses: list[str]
    why: str


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A frozen set of clauses and scenarios."""

    name: str
    """`core-1`"""
    title: str
    """Whom it is for, in a line."""
    clauses: dict[str, Level]
    """What is scored, each clause with the most that a breach of it counts for."""
    scenarios: dict[str, list[Variant]]
    """What is played, each scenario in its variants."""
    not_scored: list[NotScored]
    """Every other clause that there was, with the reason."""

    @property
    def digest(self) -> str:
        """Of all that it says, however its file is written."""
        told = msgspec.json.encode(self, order="sorted")
        return hashlib.sha256(told).hexdigest()

    @property
    def catalogue(self) -> Mapping[str, Clause]:
        """Its clauses, as they are now, with the levels they had."""
        return {
            clause.id: msgspec.structs.replace(clause, level=self.clauses[clause.id])
            for clause in CLAUSES.values()
            if clause.id in self.clauses
        }


def profile_names() -> list[str]:
    """The profiles there are, in the order in which they were made."""
    return list(digests())


@cache
def profile(name: str) -> Profile:
    """The profile of this name, by today's ids. Raises `KeyError` where there is none."""
    if name not in digests():
        raise KeyError(name)
    return _today(stored(name))


def stored(name: str) -> Profile:
    """The profile as its file says it."""
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    return msgspec.convert(yaml.safe_load(text), Profile)


def digests() -> dict[str, str]:
    """The digest of each profile, by its name."""
    return msgspec.convert(yaml.safe_load(FROZEN.read_text(encoding="utf-8")) or {}, dict[str, str])


def catalogue_of(name: str) -> Mapping[str, Clause]:
    """The clauses that are judged under this name; without one, or for a name of another version, all."""
    return profile(name).catalogue if name in digests() else CLAUSES


def _today(profile: Profile) -> Profile:
    """With ids that were renamed since; what was retired is left out."""
    from ..baseline.moved import moved

    renamed = moved()
    clauses = {renamed.clause(each): level for each, level in profile.clauses.items()}
    scenarios = {renamed.scenario(each): variants for each, variants in profile.scenarios.items()}
    return msgspec.structs.replace(
        profile,
        clauses={name: level for name, level in clauses.items() if name in CLAUSES},
        scenarios={name: each for name, each in scenarios.items() if name not in renamed.scenarios},
    )
