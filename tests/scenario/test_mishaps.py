"""What a file is told whose faults and breaks make no sense, and where."""

from __future__ import annotations

import pytest

from harness.scenario.load import parse_scenario
from harness.scenario.places import EVENTS, FIXED, Place, parse_place
from harness.scenario.problems import ScenarioError

FILE = """\
title: A title
clauses: [END-1, TOOL-5]
why: because it has to be written
task: {{prompt: Hi}}
streams: {streams}
script:
  - {step}
"""


def problems(step: str, streams: str = "only") -> list[str]:
    text = FILE.format(step=step, streams=streams)
    try:
        parse_scenario(text.encode(), scenario_id="a/b", path="b.yaml")
    except ScenarioError as error:
        return [str(problem) for problem in error.problems]
    return []


def breaks(written: str, content: str = "[{text: A}]", streams: str = "only") -> list[str]:
    return problems(f"reply: {{content: {content}, breaks: [{written}]}}", streams)


@pytest.mark.parametrize(
    "step",
    [
        "fault: {status: 529}",
        "fault: {connection: reset}",
        "fault: {connection: refuse, seconds: 0.5}",
        "fault: {status: 413, before_body: true}",
        "fault: {status: 429, headers: {retry-after: ''}}",
        "reply: {breaks: [{at: event 3, by: error, error: {type: api_error}}]}",
        "reply: {breaks: [{at: message_start, by: stall, seconds: 1, pings: 0.2}, {at: end, by: close}]}",
        "reply: {breaks: [{at: done, by: reset}]}",
        "reply: {breaks: [{at: event 1, by: event, event: {type: new}}, {at: byte 9, by: garbage, text: x}]}",
    ],
)
def test_what_makes_sense_is_taken(step: str) -> None:
    assert problems(step) == []


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ("fault: {}", "7:12: the fault has neither `status` nor `connection`"),
        ("fault: {status: 529, connection: reset}", "7:12: the fault has both `status` and `connection`"),
        ("fault: {status: 99}", "7:21: 99 is no HTTP status"),
        ("fault: {connection: reset, body: x}", "7:38: `body` means nothing here: there is no answer"),
        ("fault: {connection: reset, seconds: 1}", "7:41: `seconds` goes with `connection: refuse` alone"),
        ("fault: {connection: refuse, delay: 1}", "7:40: `delay` means nothing here"),
        ("fault: {connection: explode}", "7:25: `explode` is none of the words"),
        ("{fault: {connection: refuse}, repeat: 3}", "7:43: nobody sees how often"),
    ],
)
def test_a_fault_that_makes_no_sense_is_explained(step: str, problem: str) -> None:
    [found] = problems(step)
    assert f"b.yaml:{problem}" in found


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("{at: evnt 3, by: end}", "`evnt 3` is no place in a reply; write `head`"),
        ("{at: event, by: end}", "`event` is no place in a reply"),
        ("{at: event 0, by: end}", "`event 0` is no place in a reply"),
        ("{at: inside tool json, by: end}", "the reply has no tool call with an input"),
        ("{at: inside character, by: end}", "every character of the reply is one byte long"),
        ("{at: done, by: end}", "after the whole reply the connection can only be closed or reset"),
        ("{at: event 1, by: end}, {at: event 2, by: end}", "never reached: the break before it"),
        ("{at: event 1, by: stall}", "a `stall` lasts some time; write `seconds`"),
        ("{at: event 1, by: event}", "which event? write `event: {type: …}`"),
        ("{at: event 1, by: event, event: {rays: 1}}", "which event? write `event: {type: …}`"),
        ("{at: event 1, by: end, seconds: 1}", "`seconds` goes with `by: stall` alone"),
        ("{at: event 1, by: end, pings: 1}", "`pings` goes with `by: stall` or `by: silence` alone"),
        ("{at: event 1, by: end, error: {type: a}}", "`error` goes with `by: error` alone"),
        ("{at: event 1, by: end, text: a}", "`text` goes with `by: garbage` alone"),
        ("{at: event 1}", "`by` is missing"),
    ],
)
def test_a_break_that_makes_no_sense_is_explained(written: str, problem: str) -> None:
    [found] = breaks(written)
    assert problem in found
    assert found.startswith("b.yaml:7:")


def test_a_cut_inside_a_call_needs_an_input() -> None:
    place = "{at: inside tool json, by: end}"
    assert breaks(place, "[{tool_use: {name: a, input: {b: 1}}}]") == []
    assert breaks(place, "[{tool_use: {name: a}}]")


def test_a_cut_inside_a_character_needs_one() -> None:
    assert breaks("{at: inside character, by: end}", "[{text: é}]", "both") == []


@pytest.mark.parametrize("written", ["{at: event 1, by: end}", "{at: head, by: garbage}"])
def test_what_exists_only_in_a_stream_says_so(written: str) -> None:
    [found] = breaks(written, streams="both")
    assert "exists only in a stream; add `streams: only`" in found


def test_places_are_read() -> None:
    assert all(parse_place(name) == Place(fixed=name) for name in FIXED)
    assert all(parse_place(name) == Place(event=name) for name in EVENTS)
    assert parse_place("byte 12") == Place(byte=12)
    assert parse_place("inside event 3") == Place(number=3, inside=True)
    assert parse_place("content_block_stop 2") == Place(event="content_block_stop", number=2)
    for text in ("", "byte", "byte 0", "event x", "inside head", "hologram 3", "inside byte 3", "event 3 "):
        assert parse_place(text) is None
