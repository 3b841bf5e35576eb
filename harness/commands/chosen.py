"""What the selectors on the command line choose, with the errors of a user as one clear line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..case import Case
from ..chosen import find_cases
from ..scenario.model import Scenario
from ..scenario.problems import ScenarioError
from ..scenario.select import SelectorError
from . import Stop

if TYPE_CHECKING:
    from ..profiles.model import Profile


def chosen_cases(
    selectors: Sequence[str], folder: str | None, seed: int, profile: Profile | None = None
) -> list[Case]:
    """The cases a run is about. Raises `Stop`."""
    try:
        if profile:
            from ..profiles.score import profile_cases

            return profile_cases(profile, selectors, seed)
        return find_cases(selectors, Path(folder) if folder else None, seed)
    except ScenarioError as error:
        raise Stop(f"a scenario cannot be used:\n{error}") from error
    except SelectorError as error:
        raise Stop(str(error)) from error


def chosen_scenarios(
    selectors: Sequence[str], folder: str | None, profile: Profile | None = None
) -> list[Scenario]:
    """The scenarios of the chosen cases, each once. Raises `Stop`."""
    cases = chosen_cases(selectors, folder, 1, profile)
    return list({case.scenario.id: case.scenario for case in cases}.values())
