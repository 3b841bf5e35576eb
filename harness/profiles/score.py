"""Cases and results as a profile sees them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import msgspec

from ..case import Case
from ..chosen import find_cases
from ..judge import CheckResult, scenario_grade
from ..runner import DEFAULT_SEED, CaseResult
from ..scenario.problems import nearest
from ..scenario.select import SelectorError
from .model import Profile, profile, profile_names


def profile_cases(profile: Profile, selectors: Sequence[str] = (), seed: int = DEFAULT_SEED) -> list[Case]:
    """The cases of the profile that the selectors choose. Raises `SelectorError`."""
    chosen = find_cases(selectors, None, seed)
    cases = [case for case in chosen if case.variant in profile.scenarios.get(case.scenario.id, ())]
    if not cases:
        raise SelectorError(
            f"{', '.join(selectors)}: not in {profile.name}, "
            f"which `loop-harness list --profile {profile.name}` shows"
        )
    return cases


def asked_cases(name: str, selectors: Sequence[str], folder: Path | None, seed: int) -> list[Case]:
    """The cases of the profile of this name. Raises `SelectorError`, also where there is none."""
    if name not in (names := profile_names()):
        raise SelectorError(f"there is no profile {name}{nearest(name, names)}")
    if folder is not None:
        raise SelectorError(f"what is played in {name} is fixed: leave out the folder of further scenarios")
    return profile_cases(profile(name), selectors, seed)


def scored(result: CaseResult, profile: Profile, named: Iterable[str]) -> CaseResult:
    """The result as it counts in the profile; `named` are the clauses its scenario is about.

    Clauses that the profile leaves out are left out, and a breach counts for no more than it did when the
    profile was made.
    """
    checks = [_levelled(check, profile) for check in result.checks if check.clause in profile.clauses]
    if result.grade == "error" and not any(check.grade == "error" for check in result.checks):
        return msgspec.structs.replace(result, checks=checks)
    grade = scenario_grade(checks, frozenset(named) & profile.clauses.keys())
    reason = result.reason if grade == result.grade else _reason(grade, profile)
    return msgspec.structs.replace(result, checks=checks, grade=grade, reason=reason)


def _levelled(check: CheckResult, profile: Profile) -> CheckResult:
    level = profile.clauses[check.clause]
    if check.grade not in ("fail", "warn") or level in ("MUST", check.level):
        return check
    return msgspec.structs.replace(check, level=level, grade="warn" if level == "SHOULD" else "info")


def _reason(grade: str, profile: Profile) -> str:
    return f"no clause of {profile.name} could be judged" if grade == "unsupported" else ""


def newer(profile: Profile, clauses: Collection[str]) -> list[str]:
    """The clauses there are now and were not when the profile was made."""
    known = {clause for each in profile.not_scored for clause in each.clauses}
    return [clause for clause in clauses if clause not in profile.clauses and clause not in known]
