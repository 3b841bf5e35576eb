"""The cancel sweep is made of scenarios like any that are written."""

from __future__ import annotations

import pytest
import yaml

from harness.scenario.load import parse_scenario
from harness.scenario.stops import POINTS, WAYS, scenarios, values

SWEEP = {scenario.id: scenario for scenario in scenarios()}


@pytest.mark.parametrize(("point", "via"), [(point, via) for point in POINTS for via in point.ways], ids=str)
def test_it_could_have_been_written_as_a_file(point, via) -> None:
    written = yaml.safe_dump(values(point, via), sort_keys=False, allow_unicode=True)
    read = parse_scenario(written.encode(), scenario_id=f"cancel/{point.name}-{via}", path="")
    assert read == SWEEP[read.id]


def test_every_way_is_tried_at_several_points() -> None:
    ways = [scenario.turns[0].cancel.via for scenario in SWEEP.values() if scenario.turns[0].cancel]
    assert set(ways) == set(WAYS)
    assert min(ways.count(way) for way in ("flag", "asyncio", "interrupt")) >= 4
