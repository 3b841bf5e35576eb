"""One interface for every kind of report."""

from __future__ import annotations

import msgspec
import pytest

from harness.report.json import render as as_json
from harness.report.kinds import KINDS, View, rendered
from harness.report.load import decode
from harness.report.model import Report, covered
from tests.report.samples import report, right, undriven, wrong


def whole(kind: str, of: Report, view: View | None = None) -> str:
    text = rendered(kind, of, view)
    return text if isinstance(text, str) else "\n".join(f"{name}\n{text[name]}" for name in text)


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_that_was_stored_gives_the_same_as_the_run(kind: str) -> None:
    fresh = report(wrong("one"), right("two"), undriven("three"))

    assert whole(kind, decode(as_json(fresh, View()))) == whole(kind, fresh)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_copes_with_nothing(kind: str) -> None:
    for empty in (Report(), report(undriven()), report(right())):
        assert isinstance(whole(kind, empty), str)


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if not kind.whole])
def test_only_what_failed_is_told_where_that_is_asked_for(kind: str) -> None:
    told = whole(kind, report(wrong("one"), right("two")), View(only_failures=True))

    assert "TOOL-2" in told
    assert "The model changed." not in told
    assert "text/one" not in told


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.whole])
def test_what_programs_read_is_always_whole(kind: str) -> None:
    one = report(wrong("one"), right("two"))

    assert whole(kind, one, View(only_failures=True)) == whole(kind, one)


@pytest.mark.parametrize("kind", [name for name in KINDS if name not in ("github", "repro")])
def test_a_report_names_the_profile_that_was_asked_for(kind: str) -> None:
    plain = right()
    of = msgspec.structs.replace(plain, profile="core-1", coverage=covered(plain.results, "core-1"))

    assert "core-1" in whole(kind, report(of))
    assert "core-1" not in whole(kind, report(plain))


def test_a_kind_that_is_none_is_an_error() -> None:
    with pytest.raises(KeyError):
        rendered("xml", report())
