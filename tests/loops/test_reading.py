"""An answer as a client reads it."""

from __future__ import annotations

import pytest

from harness.loops.driver import DriverError
from harness.loops.reading import Read, events, parse_answer, read, says_done

STREAM = (
    b'event: delta\ndata: {"text": "It is "}\n\n: a comment\n\n'
    b'event: delta\r\ndata: {"text": "cold."}\r\n\r\n'
    b'event: end\ndata: {"reason": "stop"}\n\ndata: {"text": " Lost."}'
)


def answer(where: str | None, body: bytes, kind: str, *, whole: bool = True) -> Read:
    return read(parse_answer(where), 200, {"content-type": kind}, body, "whole" if whole else "cut")


def test_a_stream_is_read_event_by_event_and_its_last_half_is_none() -> None:
    found = answer("sse:$.text", STREAM, "text/event-stream; charset=utf-8")

    assert found.text == "It is cold."
    assert found.look == [
        ("status", "200"),
        ("type", "text/event-stream"),
        ("end", "whole"),
        ("event", "delta"),
        ("event", "end"),
        ("$.reason", '"stop"'),
    ]


def test_a_stream_of_bare_text_is_its_text() -> None:
    found = answer("sse", b"data: It is\ndata: cold.\n\ndata: Yes.\n\n", "text/event-stream")

    assert found.text == "It is\ncold.Yes."


def test_a_line_ends_where_streams_have_it_and_not_at_a_separator_in_a_text() -> None:
    found = answer(
        "sse:$.text", 'data: {"text": "one\u2028two\x85three"}\r\n\r\n'.encode(), "text/event-stream"
    )

    assert found.text == "one\u2028two\x85three"


def test_json_is_read_at_its_path() -> None:
    body = b'{"choices": [{"text": "One."}, {"text": "Two."}], "done": true}'
    found = answer("json:$.choices[*].text", body, "application/json", whole=False)

    assert found.text == "One.\nTwo."
    assert found.look[2:] == [("end", "cut"), ("$.done", "true")]


def test_json_on_several_lines_is_a_stream_whose_last_line_may_be_cut() -> None:
    body = b'{"text": "It is "}\n{"text": "cold."}\n{"end": "stop"}\n{"te'
    found = answer("json:$.text", body, "application/x-ndjson")

    assert found.text == "It is cold."
    assert found.look[3:] == [("$.end", '"stop"')]


def test_a_mark_of_its_encoding_at_the_beginning_is_no_part_of_json() -> None:
    assert answer("json:$.text", b'\xef\xbb\xbf{"text": "Cold."}', "application/json").text == "Cold."


@pytest.mark.parametrize("charset", ["utf-8", "ISO-8859-1", "unheard-of"])
def test_a_text_is_a_text(charset: str) -> None:
    written = "utf-8" if charset == "unheard-of" else charset
    found = answer("text", "Kälte.".encode(written), f"text/plain; charset={charset}")

    assert (found.text, len(found.look)) == ("Kälte.", 3)


@pytest.mark.parametrize("end", [b"\n\n", b"\r\r", b"\r\n\r\n", b"\n\r\n", b"\r\n\n"])
def test_an_event_ends_with_a_blank_line_of_any_kind(end: bytes) -> None:
    body = b": hello" + end + b'data: {"text": "Cold."}' + end + b"data: [DONE]" + end

    assert [data for _, data in events(body)] == ['{"text": "Cold."}', "[DONE]"]
    assert says_done(body, None)


def test_without_a_place_nothing_is_taken_for_the_text() -> None:
    found = answer(None, b'{"reply": "It is cold."}', "application/json")

    assert found.text is None
    assert found.look[3:] == [("$.reply", '"It is cold."')]


def test_a_body_that_is_no_json_is_a_mark() -> None:
    found = answer("json:$.reply", b"<h1>Bad gateway</h1>", "text/html")

    assert (found.text, found.look[-1]) == ("", ("body", "not JSON"))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("jason:$.reply", "did you mean 'json'"),
        ("json:$.a..b", "is no path"),
        ("text:$.reply", "the whole body"),
    ],
)
def test_what_cannot_be_meant_is_told(written: str, said: str) -> None:
    with pytest.raises(DriverError) as told:
        parse_answer(written)

    assert said in str(told.value)


def test_an_event_without_data_is_none() -> None:
    assert list(events(b"event: ping\n\ndata: x\n\n")) == [("message", "x")]


@pytest.mark.parametrize(
    ("body", "until", "over"),
    [
        (b"event: delta\ndata: {}\n\nevent: done\ndata: {}\n\n", None, True),
        (b"data: Hello\n\ndata: [DONE]\n\n", None, True),
        (b'data: {"type": "done"}\r\n\r\n', None, True),
        (b"event: done\ndata: {}\n\nevent: delta\ndata: {}\n\n", None, False),
        (b"event: done\ndata: {}\n", None, False),
        (b"event: finished\ndata: {}\n\n", None, False),
        (b"event: finished\ndata: {}\n\n", "finished", True),
        (b"event: done\ndata: {}\n\n", "finished", False),
        (b"data: done\n\n", "done", True),
        (b"", None, False),
    ],
)
def test_a_stream_is_over_with_the_event_that_says_so(body: bytes, until: str | None, over: bool) -> None:
    assert says_done(body, until) == over
