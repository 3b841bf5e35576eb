"""What the mutation runs rest on: which changes are none, which lines they touch, and why some survive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.checks.base import CHECKS, Finding, broken, held
from harness.evidence import Run
from tests.checks.histories import Story, server_call, text, user
from tests.mutation import histories
from tests.mutation.changes import Change
from tests.mutation.histories import Kept
from tests.mutation.known import known
from tests.mutation.reach import reaches
from tests.mutation.verdicts import Bench

ROOT = Path(__file__).parent.parent
MODULES = {"reference": ROOT / "harness" / "loops" / "reference", "checks": ROOT / "harness" / "checks"}
BEFORE = """
from __future__ import annotations

LIMIT = 2

def add(one: int | None, other: int = 1) -> int | None:
    total: int | None = one
    if (
        total
        and other
    ):
        total += other
    return total
"""


def change(old: str, new: str, line: int = 0) -> Change:
    assert old in BEFORE
    return Change(Path("sums.py"), "add", line, BEFORE, BEFORE.replace(old, new))


def test_a_change_to_an_annotation_is_none() -> None:
    assert change("total: int | None", "total: int + None").is_none
    assert change("-> int | None", "-> int - None").is_none
    assert not change("+=", "-=").is_none
    assert not change("other: int = 1", "other: int = 2").is_none


def test_a_change_reaches_the_statement_it_is_in() -> None:
    assert change("total += other", "total -= other", line=12).span == (12, 12)
    assert change("total\n        and", "total\n        or", line=10).span == (8, 11)
    assert change("LIMIT = 2", "LIMIT = 3", line=4).span is None


def test_a_change_is_known_by_its_lines() -> None:
    assert change("+=", "-=").key == ("sums.py add", "total += other", "total -= other")


@pytest.mark.parametrize("part", MODULES)
def test_what_is_explained_is_still_there(part: str) -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in MODULES[part].glob("*.py")}
    gone = [
        (where, was)
        for where, was, _ in known(part)
        if " ".join(was.split()) not in " ".join(texts[where.partition(" ")[0]].split())
    ]

    assert gone == []


def test_a_change_is_looked_for_where_its_lines_are_run() -> None:
    path, others = "sums.py", {"other.py": 1 << 12}

    def reached(*lines: int, line: int) -> bool:
        return reaches({path: sum(1 << one for one in lines), **others}, change("+=", "-=", line=line))

    assert reached(12, line=12)
    assert not reached(11, 13, line=12)
    assert reached(10, line=10)
    assert reached(8, line=10)
    assert not reached(12, line=10)
    assert reached(99, line=4)
    assert not reached(line=4)
    assert reaches({}, change("+=", "-=", line=12), {path: 1 << 12})


def paused(*more: object) -> Story:
    story = Story(clauses=("PAUSE-1",))
    story.turn()
    story.ask([user("Hi")])
    story.reply([text("Looking."), server_call("srvtoolu_1")], "pause_turn")
    if more:
        story.ask([user("Hi"), *more])  # type: ignore[list-item]
        story.reply([text("Done.")])
    return story.end(shown=[])


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """What is kept of a right loop, and of a wrong one that shows its fault twice."""
    folder = tmp_path_factory.mktemp("kept")
    right, wrong = paused(user("And?")).finish(), paused().finish()
    histories.write(
        folder,
        "digest",
        [
            Kept("right", "a", True, (), right),
            Kept("wrong", "a", False, ("PAUSE-1",), wrong),
            Kept("wrong", "b", False, ("PAUSE-1",), wrong),
            Kept("wrong", "c", False, ("PAUSE-1",), right),
        ],
    )
    return Bench(folder)


def judged(bench: Bench, monkeypatch: pytest.MonkeyPatch, check: object) -> tuple[str, str]:
    """What is said of a check in place of PAUSE-1's."""
    path = MODULES["checks"] / "pause.py"
    source = path.read_text(encoding="utf-8")
    monkeypatch.setitem(CHECKS, "PAUSE-1", check)  # type: ignore[arg-type]
    return bench.changed(Change(path, "", 0, source, source))


def test_a_check_that_says_the_same_is_not_caught(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged(bench, monkeypatch, CHECKS["PAUSE-1"]) == ("", "")


def test_a_check_that_misses_what_a_wrong_loop_does_is_caught(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def holds(_: Run) -> Iterator[Finding]:
        yield held()

    assert judged(bench, monkeypatch, holds)[0] == "wrong b: PAUSE-1: fail -> pass"


def test_a_check_that_blames_a_right_loop_is_caught(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(_: Run) -> Iterator[Finding]:
        yield broken(expected="-", happened="-")

    def raises(_: Run) -> Iterator[Finding]:
        raise KeyError("-")
        yield held()

    def says_nothing(run: Run) -> Iterator[Finding]:
        return iter([broken(expected="-", happened="-")] if len(run.turns[0].rounds) == 1 else [])

    for check, grade in ((breaks, "fail"), (says_nothing, "inconclusive")):
        assert judged(bench, monkeypatch, check)[0] == f"right a: PAUSE-1: pass -> {grade}"
    assert judged(bench, monkeypatch, raises)[0].endswith("-> error")


def test_another_verdict_that_no_proof_is_about_is_told_apart(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def misses_one(run: Run) -> Iterator[Finding]:
        right = len(run.turns[0].rounds) > 1
        yield held() if right or seen.append(run) or len(seen) == 1 else broken(expected="-", happened="-")

    seen: list[Run] = []
    assert judged(bench, monkeypatch, misses_one) == ("", "wrong a: PAUSE-1: fail -> pass")
