"""Shards put together again, and loops side by side."""

from __future__ import annotations

import msgspec
import pytest

from harness.case import Case
from harness.chosen import Shard
from harness.report.json import render as as_json
from harness.report.kinds import KINDS, View, rendered
from harness.report.load import decode
from harness.report.merge import MergeError, Stored, merged
from harness.report.model import Report, covered
from harness.scenario.model import Scenario, Task
from tests.report.samples import KEPT, LOST, SLIGHT, loop, report, result, right, undriven, wrong

WHOLE = loop(
    "mine",
    *(
        result(f"tool/{n}", variant, LOST if n == 2 else KEPT)
        for n in range(5)
        for variant in ("json", "sse")
    ),
    result("text/one", "json", KEPT, SLIGHT),
    notes=["said once"],
    exposes=["status"],
)


def cases() -> list[Case]:
    def scenario(name: str) -> Scenario:
        return Scenario(id=name, title="t", clauses=[], why="w", task=Task(), turns=[], path="x")

    return [Case(scenario(each.scenario), each.variant) for each in WHOLE.results]


def shard(number: int, of: int = 3) -> Report:
    part = Shard(number, of)
    mine = {case.id for case in part.part(cases())}
    results = [each for each in WHOLE.results if each.id in mine]
    small = msgspec.structs.replace(
        WHOLE,
        shard=str(part),
        cases=[each.id for each in WHOLE.results],
        results=results,
        coverage=covered(results),
    )
    return decode(as_json(report(small), View()))


def stored(*reports: Report) -> list[Stored]:
    return [Stored(f"{number}.json", each) for number, each in enumerate(reports)]


def test_every_case_is_in_one_shard_and_the_variants_of_a_scenario_are_together() -> None:
    parts = [Shard(number, 3).part(cases()) for number in (1, 2, 3)]

    assert sorted(case.id for part in parts for case in part) == sorted(case.id for case in cases())
    for part in parts:
        assert {case.id for case in part} == {
            case.id for case in cases() if case.scenario.id in {each.scenario.id for each in part}
        }
    assert Shard(1, 1).part(cases()) == cases()
    assert Shard(9, 9).part(cases()) == []


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2)])
@pytest.mark.parametrize("kind", KINDS)
def test_sharded_in_three_and_merged_is_as_if_it_had_not_been(kind: str, order: tuple[int, ...]) -> None:
    together = merged(stored(*(shard(number) for number in order)))

    assert rendered(kind, together) == rendered(kind, report(WHOLE))


def test_the_loops_of_several_reports_stand_side_by_side() -> None:
    together = merged(stored(report(wrong("a")), report(right("b"), undriven("c"))))

    assert together == report(wrong("a"), right("b"), undriven("c"))


def test_a_shard_that_is_missing_is_an_error() -> None:
    with pytest.raises(
        MergeError, match=r"4 cases of the run in no report: tool/1\[json\], .*; there are shard 1/3, 3/3"
    ):
        merged(stored(shard(1), shard(3)))
    with pytest.raises(MergeError, match="there is shard 2/3, add the others"):
        merged(stored(shard(2)))


def test_a_shard_in_which_the_loop_could_not_be_driven_speaks_for_all() -> None:
    broken = report(msgspec.structs.replace(undriven("mine"), shard="2/3", target=WHOLE.target))

    [together] = merged(stored(shard(1), broken, shard(3))).loops

    assert together.problem.startswith("there is no module")
    assert (together.results, together.shard) == ([], "")


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (shard(1), r"tool/0\[json\] is in 0.json and 1.json"),
        (shard(2, of=2), "in 0.json and 1.json; leave one of them out"),
        (report(WHOLE), "it is in 0.json and 1.json; give one of them another name"),
        (report(msgspec.structs.replace(shard(2).loops[0], seed=8)), "the seed is 7 and 8"),
        (
            report(msgspec.structs.replace(shard(2).loops[0], cases=["tool/9[json]"])),
            "their cases are not the same",
        ),
        (
            msgspec.structs.replace(shard(2), version="9"),
            "different versions of loop-harness: 0.json by .* 1.json by 9",
        ),
    ],
)
def test_what_makes_no_whole_is_an_error(other: Report, message: str) -> None:
    with pytest.raises(MergeError, match=message):
        merged(stored(shard(1), other))
