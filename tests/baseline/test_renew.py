"""What is written of a run: an entry for each thing a person would have to know, and no more."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.baseline.ledger import Ledger
from harness.baseline.model import Entry
from harness.baseline.renew import new_entries
from tests.baseline.holding import ledger, result

WHOLE = [f"pause/{name}[{variant}]" for name in ("a", "b", "c") for variant in ("json", "sse")]
OTHERS = ["fault/a[sse]", "fault/b[sse]"]


def entered(folder: Path, cases: Iterable[str], whole: Iterable[str] = (), **grades: str) -> Ledger:
    """A ledger in which these cases have these grades."""
    book = ledger(folder, whole=[*whole, *cases])
    for case in cases:
        book.enter(result(case, **grades), frozenset())
    return book


def written(book: Ledger, **options: bool) -> list[str]:
    def told(entry: Entry) -> str:
        variant = f"[{entry.variant}]" if entry.variant else ""
        return f"{entry.scenario}{variant} {entry.clause} {entry.grade}"

    return [told(entry) for entry in new_entries({"mine": book}, reason="not yet", **options)]


def test_what_is_broken_in_all_variants_is_one_entry(tmp_path: Path) -> None:
    assert written(entered(tmp_path, WHOLE[:2], PAUSE_1="fail")) == ["pause/a PAUSE-1 fail"]
    assert written(entered(tmp_path, WHOLE[:1], [WHOLE[1]], PAUSE_1="fail")) == ["pause/a[json] PAUSE-1 fail"]


def test_what_is_kept_nowhere_in_a_family_is_one_entry_in_the_place_of_its_first(tmp_path: Path) -> None:
    book = entered(tmp_path, WHOLE, [*OTHERS], PAUSE_1="fail", PAUSE_5="pass")
    for case in OTHERS:
        book.enter(result(case, FAULT_5="fail", PAUSE_1="pass"), frozenset())

    assert written(book) == ["pause/* PAUSE-1 fail", "fault/a FAULT-5 fail", "fault/b FAULT-5 fail"]


def test_what_is_kept_nowhere_at_all_is_one_entry(tmp_path: Path) -> None:
    book = entered(tmp_path, WHOLE, OTHERS, HIST_1="fail")
    for case in OTHERS:
        book.enter(result(case, HIST_1="fail"), frozenset())

    assert written(book) == ["* HIST-1 fail"]


def test_one_case_that_keeps_the_clause_keeps_the_others_apart(tmp_path: Path) -> None:
    book = entered(tmp_path, WHOLE, ["pause/d[json]"], PAUSE_1="fail")
    book.enter(result("pause/d[json]", PAUSE_1="pass"), frozenset())

    assert written(book) == ["pause/a PAUSE-1 fail", "pause/b PAUSE-1 fail", "pause/c PAUSE-1 fail"]


def test_what_is_broken_in_streams_alone_is_an_entry_about_streams(tmp_path: Path) -> None:
    book = entered(tmp_path, WHOLE[1::2], WHOLE[::2], PAUSE_1="fail")
    for case in WHOLE[::2]:
        book.enter(result(case, PAUSE_1="pass"), frozenset())

    assert written(book) == ["pause/*[sse] PAUSE-1 fail"]


def test_a_part_of_a_family_says_nothing_about_the_rest_of_it(tmp_path: Path) -> None:
    book = entered(tmp_path, WHOLE, ["pause/d[json]"], PAUSE_1="fail")

    assert [each.partition(" ")[0] for each in written(book)] == ["pause/a", "pause/b", "pause/c"]


def test_what_a_scenario_expects_is_another_thing_in_each(tmp_path: Path) -> None:
    assert len(written(entered(tmp_path, WHOLE, EXPECT="fail"))) == 3
    assert written(entered(tmp_path, WHOLE, PAUSE_1="warn")) == []
    assert written(entered(tmp_path, WHOLE, PAUSE_1="warn"), strict=True) == ["pause/* PAUSE-1 warn"]
