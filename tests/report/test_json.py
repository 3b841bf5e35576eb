"""The report for programs, and reading it again."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from harness.history import RequestSeen
from harness.report import json as json_report
from harness.report.json import render
from harness.report.kinds import View
from harness.report.load import ReportError, decode, load
from harness.report.model import Report
from harness.report.schema import schema_text
from tests.report.samples import KEPT, LOST, loop, report, result, right, undriven, wrong

SCHEMA = Path(json_report.__file__).parent.parent / "report.schema.json"


def test_it_has_the_documented_form() -> None:
    told = json.loads(render(report(wrong("one"), undriven("two")), View()))

    assert told.keys() == {"schema", "version", "made", "loops"}
    assert told["schema"] == 2
    one, two = told["loops"]
    assert (one["name"], one["target"], one["seed"], one["problem"]) == ("one", "mine:loop", 7, "")
    assert two["problem"].startswith("there is no module 'gone'")
    first = one["results"][0]
    assert (first["scenario"], first["variant"], first["grade"]) == ("tool/one", "json", "fail")
    assert first["checks"][0]["clause"] == "TOOL-2"
    assert first["checks"][0]["advice"] == "Answer every call, with its own id."
    assert one["coverage"]["clauses"] == len(one["coverage"]["decided"]) + len(one["coverage"]["undecided"])


def test_it_keeps_to_its_schema() -> None:
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)

    jsonschema.validate(json.loads(render(report(wrong("one"), undriven("two")), View())), schema)

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"schema": 1, "version": "0", "loops": []}, schema)


def test_the_schema_is_that_of_the_model() -> None:
    assert SCHEMA.read_text() == schema_text(), "python -m harness.report.schema > harness/report.schema.json"
    assert '"description": "One run:' in schema_text()


def test_what_is_read_is_what_was_written() -> None:
    before = report(wrong("one"), right("two"), undriven("three"))

    after = decode(render(before, View()))

    assert msgspec.to_builtins(after) == msgspec.to_builtins(before)


def test_a_conversation_that_is_sent_again_is_stored_once() -> None:
    told = json.loads(render(report(loop("mine", result("tool/one", "json", LOST))), View()))

    sent = [event for event in told["loops"][0]["results"][0]["events"] if event["event"] == "request"]
    assert len(sent[0]["body"]["messages"]) == 1
    events = decode(render(report(), View())).loops[0].results[0].events
    [_, second] = [event for event in events if isinstance(event, RequestSeen)]
    assert len(second.body["messages"]) == 3


def test_where_room_is_short_what_happened_in_runs_that_passed_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_report, "ROOM", 10)
    told = decode(
        render(report(loop("mine", result("a/b", "json", KEPT), result("a/c", "json", LOST))), View())
    )

    passed, failed = told.loops[0].results
    assert (passed.grade, passed.events) == ("pass", [])
    assert failed.events


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("{", "not a JSON report of loop-harness"),
        ("[]", "not a JSON report of loop-harness"),
        ('{"schema": 1, "loop": "a"}', "written by an older loop-harness (schema 1, this one reads 2)"),
        ('{"schema": 99}', "written by a newer loop-harness (schema 99, this one reads 2)"),
        ('{"schema": 2, "loops": 3}', "not a JSON report of loop-harness: Expected `array`"),
    ],
)
def test_a_file_that_is_no_report_is_told_from_one(tmp_path: Path, written: str, told: str) -> None:
    (tmp_path / "report.json").write_text(written)

    with pytest.raises(ReportError) as caught:
        load(tmp_path / "report.json")

    assert str(caught.value).startswith(f"{tmp_path}/report.json: {told}")


def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(ReportError, match=r"^nowhere\.json: there is no such file"):
        load(Path("nowhere.json"))


def test_a_report_of_no_loop_is_one() -> None:
    assert decode(render(Report(), View())).loops == []
