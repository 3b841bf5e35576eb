"""One line for each event worth showing."""

from __future__ import annotations

import pytest

from harness.history import (
    Answered,
    AnyEvent,
    Broken,
    Cancelled,
    CancelPolled,
    Crashed,
    Delivered,
    Ended,
    Finished,
    Lost,
    Noted,
    Overran,
    Published,
    Raised,
    Reported,
    RequestSeen,
    StoreDeleted,
    StoreSet,
    ToolEnded,
    ToolStarted,
    TurnBegan,
    UsageRecorded,
)
from harness.report.trace import LONGEST, blocks, trace_lines

TOLD = [
    (TurnBegan(prompt="Hi", at=0.5), 'turn 1       "Hi"'),
    (TurnBegan(prompt="Hi", rerun=True), "turn 1       again, in a new process"),
    (Crashed(after="answer 1 kept"), "killed       after answer 1 kept"),
    (
        RequestSeen(request=2, endpoint="models", method="GET", path="/v1/models"),
        "request 2    GET /v1/models",
    ),
    (
        RequestSeen(request=1, body={"messages": [{"role": "user", "content": "Hi"}]}, lane="side", retry=1),
        'request 1    1 message, the last: user "Hi", (side), (retry 1)',
    ),
    (
        RequestSeen(request=1, body={"messages": []}, transcript=[{"role": "user", "content": "Seen"}]),
        'request 1    1 message, the last: user "Seen"',
    ),
    (RequestSeen(request=1, body=None), "request 1    POST /v1/messages"),
    (
        Answered(request=1, kind="reply", body={"stop_reason": "refusal", "content": []}),
        "answer 1     refusal: []",
    ),
    (
        Answered(
            request=1,
            kind="fault",
            status=529,
            body={"error": {"type": "overloaded_error", "message": "Overloaded"}},
        ),
        "answer 1     529 overloaded_error: Overloaded",
    ),
    (Answered(request=2, kind="count", body={"input_tokens": 57}), 'answer 2     {"input_tokens": 57}'),
    (Answered(request=9, kind="over", status=400, body={}), "answer 9     400: the script had ended"),
    (Broken(request=1, events=3), "answer 1     broken off by the client after 3 events"),
    (ToolStarted(call=1, name="look_up", input={"key": "a"}), 'tool         look_up({"key": "a"})'),
    (ToolEnded(call=1, result="found"), "tool         -> found"),
    (ToolEnded(call=1, result=[{"type": "text"}]), 'tool         -> [{"type": "text"}]'),
    (ToolEnded(call=1, error="no"), "tool         raised: no"),
    (ToolEnded(call=1, abandoned=True), "tool         abandoned"),
    (
        Published(state={"messages": [{}, {}], "activity": "Searching", "stopped": False}, done=True),
        "publish      2 messages, activity: Searching, done",
    ),
    (Reported(problem="it broke", exception="RuntimeError"), "report       RuntimeError: it broke"),
    (UsageRecorded(iterations=2, tokens={"input_tokens": 5}), "usage        2 iterations, input_tokens 5"),
    (StoreSet(key="k", by="loop"), "store        k set"),
    (StoreDeleted(key="k"), "store        k removed"),
    (Cancelled(point="request 1"), "cancel       at request 1"),
    (
        Ended(status="failed", shown=[{"content": "Oh", "is_error": True}], detail="x"),
        'outcome      failed; shown: "Oh" (error); detail: x',
    ),
    (Ended(returned="none"), "outcome      returned nothing"),
    (Ended(shown=[]), "outcome      shown: nothing"),
    (
        Ended(returned="raised", raised=Raised(type="ValueError", message="no")),
        "outcome      raised ValueError: no",
    ),
    (Overran(deadline=2.0), "overran      had not returned after 2 s and was stopped"),
    (
        Overran(deadline=2.0, stood="a.py:3, in f: g()"),
        "overran      had not returned after 2 s and was stopped at a.py:3, in f: g()",
    ),
    (Lost(reason="the host died"), "lost         the host died"),
    (Noted(kind="unverified", detail="a rule"), "note         unverified: a rule"),
]


@pytest.mark.parametrize(("event", "line"), TOLD, ids=lambda value: type(value).__name__)
def test_an_event_is_told_in_one_line(event: AnyEvent, line: str) -> None:
    [told] = trace_lines([event])

    assert told.text == f"    {event.at:7.3f}  {line}"


@pytest.mark.parametrize(
    "event",
    [
        Delivered(request=1),
        CancelPolled(answer=False),
        StoreSet(key="k", by="scenario"),
        Noted(kind="late"),
        Finished(),
    ],
    ids=lambda event: type(event).__name__,
)
def test_what_says_nothing_to_a_reader_is_left_out(event: AnyEvent) -> None:
    assert list(trace_lines([event])) == []


def test_the_middle_of_a_long_trace_is_left_out_and_counted() -> None:
    lines = list(trace_lines([StoreDeleted(key=str(number)) for number in range(LONGEST + 60)]))

    assert len(lines) == LONGEST + 1
    assert lines[0].text.endswith("0 removed")
    assert lines[LONGEST // 2].text.strip() == "…  60 more lines"
    assert lines[-1].text.endswith(f"{LONGEST + 59} removed")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Hi", '"Hi"'),
        (None, "nothing"),
        ([{"type": "text", "text": "Hi"}, {"type": "tool_use", "name": "f"}], '["Hi", tool_use f]'),
        (
            [{"type": "tool_result", "is_error": True}, {"type": "thinking"}],
            "[tool_result (error), thinking]",
        ),
        (["loose", {"no": "type"}], "[loose, ?]"),
        ({"a": 1}, "{'a': 1}"),
    ],
)
def test_content_is_told_by_its_blocks(content: object, said: str) -> None:
    assert blocks(content) == said
