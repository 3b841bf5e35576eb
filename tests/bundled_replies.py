"""Every reply of every bundled scenario, with the blocks the provider would send."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from harness.provider.compose import Composer
from harness.provider.script import Play
from harness.scenario.discover import find_scenarios
from harness.scenario.model import Reply, Scenario, Step
from harness.wire.blocks import FIELDS, STOP_REASONS
from harness.wire.ids import Ids
from tests.every import every


@dataclass(frozen=True)
class Said:
    """One reply of a scenario."""

    id: str
    scenario: Scenario
    step: Step
    content: list[dict[str, Any]]

    @property
    def reply(self) -> Reply:
        assert self.step.reply is not None
        return self.step.reply

    @property
    def unheard_of(self) -> bool:
        """Whether its point is something no client knows yet."""
        kinds = {block["type"] for block in self.content}
        return self.reply.stop_reason not in STOP_REASONS or not kinds <= FIELDS.keys()


@functools.cache
def replies() -> tuple[Said, ...]:
    """Their replies, in order."""
    return tuple(said for scenario in find_scenarios() for said in _of(scenario))


def each_reply(*, known: bool = False) -> Any:
    """One test over all of them; only the replies a client knows all of where that is asked for."""
    wanted = [said for said in replies() if not (known and said.unheard_of)]
    return every(wanted, lambda said: said.id)


def _of(scenario: Scenario) -> list[Said]:
    found: list[Said] = []
    names = [tool.name for tool in scenario.tools]
    scripts = [turn.script for turn in scenario.turns] + [lane.script for lane in scenario.lanes]
    composer = Composer(Ids(0))
    for number, script in enumerate(scripts):
        composer.begin_turn()
        for index, step in enumerate(script):
            if step.reply is not None:
                content = composer.content(step.reply, Play(index, 0, step), names)
                composer.delivered(content)
                found.append(Said(f"{scenario.id} {number}.{index}", scenario, step, content))
    return found
