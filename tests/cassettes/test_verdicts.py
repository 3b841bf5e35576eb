"""Faults that can be seen in recorded traffic, and what is none although it looks like one."""

from __future__ import annotations

import base64
import json
import struct
from random import Random
from typing import Any

import msgspec
import pytest

from harness.cassettes.model import Cassette, Interaction, Request, Response
from harness.cassettes.traffic import WIRE
from harness.cassettes.verdicts import Judged, judge_cassette
from harness.clauses import CLAUSES
from harness.wire.eras import era_of
from harness.wire.events import Told, events_of
from tests.cassettes.recordings import (
    TOOL,
    Json,
    answer,
    assistant,
    call,
    cassette,
    refused,
    reply,
    request,
    result,
    thinking,
    user,
)

ASK = user("What is a, and what has it ever been?")
LONG = "It is a thing that was looked up with great care, and has been one for as long as anybody knows."


def recorded(*steps: tuple[list[Any], Any], **body: Any) -> Cassette:
    """A recording of these requests (their messages) with their answers."""
    return cassette(*((request(asked, tools=[TOOL], **body), answer(said)) for asked, said in steps))


def bad(judged: Judged) -> dict[str, str]:
    return {
        check.clause: f"{check.grade} {judged.line(check)}"
        for check in judged.checks
        if check.grade not in ("pass", "inconclusive")
    }


CALLED = reply("tool_use", thinking(), "Looking.", call())
DONE = reply("end_turn", LONG, identifier="msg_2")
SENT_BACK = assistant(thinking(), "Looking.", call())

SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}}
SEARCHING = {"type": "web_search_20250305", "name": "web_search"}
CONTINUED = {"type": "continue", "previous_message_id": "msg_1"}

FAULTS: dict[str, tuple[Cassette, dict[str, str]]] = {
    "thinking is dropped": (
        recorded(([ASK], CALLED), ([ASK, assistant("Looking.", call()), user(result())], DONE)),
        {"HIST-1": "fail 20", "HIST-4": "fail 20"},
    ),
    "a text is changed": (
        recorded(([ASK], CALLED), ([ASK, assistant(thinking(), "Looking", call()), user(result())], DONE)),
        {"HIST-1": "fail 20"},
    ),
    "a call has another input": (
        recorded(
            ([ASK], CALLED), ([ASK, assistant(thinking(), "Looking.", call(a=1)), user(result())], DONE)
        ),
        {"HIST-1": "fail 20"},
    ),
    "the prompt is changed": (
        recorded(
            ([ASK], CALLED), ([user("What is a, and what has it been?"), SENT_BACK, user(result())], DONE)
        ),
        {"HIST-2": "fail 20"},
    ),
    "a result is missing": (
        recorded(
            ([ASK], reply("tool_use", call(), call("toolu_2"))),
            ([ASK, assistant(call(), call("toolu_2")), user(result())], DONE),
        ),
        {"TOOL-2": "fail 20"},
    ),
    "no result goes back": (
        recorded(([ASK], CALLED), ([ASK, SENT_BACK, user("Go on.")], DONE)),
        {"TOOL-1": "fail 20"},
    ),
    "text stands before a result": (
        recorded(([ASK], CALLED), ([ASK, SENT_BACK, user("Here:", result())], DONE)),
        {"TOOL-3": "fail 20"},
    ),
    "an orphan was refused": (
        recorded(
            (
                [ASK, user(result())],
                refused(400, "invalid_request_error", "messages.0.content.1: unexpected `tool_use_id`"),
            )
        ),
        {"HIST-3": "fail 10"},
    ),
    "a pause is answered by words": (
        recorded(
            ([ASK], reply("pause_turn", "Searching.")),
            ([ASK, assistant("Searching."), user("continue")], DONE),
        ),
        {"PAUSE-2": "fail 20"},
    ),
    "a pause is asked again": (
        recorded(([ASK], reply("pause_turn", "Searching.")), ([ASK], DONE)),
        {"PAUSE-2": "fail 20", "HIST-1": "fail 20"},
    ),
    "a refusal is sent again": (
        recorded(([ASK], reply("refusal")), ([ASK], DONE)),
        {"REFUSE-1": "fail 20"},
    ),
    "a refused reply is kept": (
        recorded(
            ([ASK], reply("refusal", "I will not say anything about this.")),
            ([ASK, assistant("I will not say anything about this."), user("Why?")], DONE),
        ),
        {"REFUSE-4": "fail 20"},
    ),
    "an empty reply is kept": (
        recorded(([ASK], reply("end_turn")), ([ASK, assistant(), user("Hello?")], DONE)),
        {"END-2": "fail 20", "HIST-6": "fail 20"},
    ),
    "a call that was cut is kept": (
        recorded(
            ([ASK], reply("max_tokens", LONG, call())),
            ([ASK, assistant(LONG, call()), user(result(), "Go on.")], DONE),
        ),
        {"TRUNC-4": "fail 20"},
    ),
    "citations are dropped in the next turn": (
        recorded(
            ([ASK], reply("end_turn", {"type": "text", "text": LONG, "citations": [{"url": "x"}]})),
            ([ASK, assistant(LONG), user("And b?")], DONE),
        ),
        {"HIST-1": "fail 20"},
    ),
    "somebody made up a call": (
        recorded(
            ([ASK], CALLED),
            ([ASK, SENT_BACK, user(result()), assistant(call("auto_1")), user(result("auto_1"))], DONE),
        ),
        {"HIST-1": "warn 20"},
    ),
    "a refused request is sent again": (
        cassette(
            *(
                (
                    request([ASK], {"x-stainless-retry-count": str(count)}),
                    answer(refused(400, "invalid_request_error", "max_tokens: too many")),
                )
                for count in range(2)
            )
        ),
        {"FAULT-2": "fail 20"},
    ),
    "several blocks become a string": (
        recorded(
            ([ASK], reply("end_turn", LONG, "And more of it.")),
            ([ASK, {"role": "assistant", "content": f"{LONG}And more of it."}, user("And b?")], DONE),
        ),
        {"HIST-1": "fail 20", "HIST-5": "fail 20"},
    ),
    "a call of a tool that does not exist succeeds": (
        recorded(
            ([ASK], reply("tool_use", call(name="nothing"))),
            ([ASK, assistant(call(name="nothing")), user(result())], DONE),
        ),
        {"TOOL-5": "fail 20"},
    ),
    "a call of the server gets a result": (
        recorded(
            ([ASK], reply("pause_turn", SEARCH)),
            ([ASK, assistant(SEARCH), user(result("srvtoolu_1"))], DONE),
        ),
        {"TOOL-7": "fail 20", "PAUSE-2": "fail 20"},
    ),
    "words stand beside results while the server is at work": (
        recorded(
            ([ASK], reply("tool_use", SEARCH, call())),
            ([ASK, assistant(SEARCH, call()), user(result(), "Go on.")], DONE),
        ),
        {"TOOL-8": "fail 20"},
    ),
    "it asks again and again without a call": (
        recorded(
            *(
                (
                    [ASK, *(each for n in range(number) for each in (assistant(f"{n} {LONG}"), user("So?")))],
                    reply("tool_use", f"{number} {LONG}", identifier=f"msg_{number}"),
                )
                for number in range(6)
            )
        ),
        {"TOOL-10": "fail 60"},
    ),
    "a pause is resumed without its tools": (
        cassette(
            (request([ASK], tools=[TOOL, SEARCHING]), answer(reply("pause_turn", SEARCH))),
            (request([ASK, assistant(SEARCH)], tools=[TOOL]), answer(DONE)),
        ),
        {"PAUSE-3": "fail 20", "HIST-7": "warn 20"},
    ),
    "pauses have no end": (
        recorded(
            *(
                (
                    [ASK, assistant(*(f"{n} {LONG}" for n in range(number)))][: 1 + bool(number)],
                    reply("pause_turn", f"{number} {LONG}", identifier=f"msg_{number}"),
                )
                for number in range(61)
            )
        ),
        {"PAUSE-4": "warn 610"},
    ),
    "a cut reply goes back as the beginning of the next": (
        recorded(([ASK], reply("max_tokens", LONG)), ([ASK, assistant(LONG)], DONE)),
        {"TRUNC-2": "fail 20"},
    ),
    "a full window is sent again": (
        recorded(([ASK], reply("model_context_window_exceeded", LONG)), ([ASK], DONE)),
        {"WINDOW-1": "fail 20"},
    ),
    "a prompt that is too long gets longer": (
        recorded(
            ([ASK], refused(400, "invalid_request_error", "prompt is too long: 210000 tokens")),
            ([user("And more."), assistant("Yes."), ASK], DONE),
        ),
        {"FAULT-10": "fail 20"},
    ),
    "a thread is told what it knows": (
        cassette(
            (request([ASK], tools=[TOOL], thread={"type": "create"}), answer(CALLED)),
            (request([SENT_BACK, user(result())], thread=CONTINUED), answer(DONE)),
        ),
        {"THREAD-1": "fail 20"},
    ),
    "what was streamed is put together wrongly": (
        cassette(
            (request([ASK], tools=[TOOL]), answer(reply("tool_use", call(who="Jo")), stream=True)),
            (request([ASK, assistant(call(who="J")), user(result())], tools=[TOOL]), answer(DONE)),
        ),
        {"STREAM-1": "fail 20", "HIST-1": "fail 20"},
    ),
    "another model after the call": (
        cassette(
            (request([ASK], tools=[TOOL]), answer(CALLED)),
            (request([ASK, SENT_BACK, user(result())], tools=[TOOL], model="claude-x"), answer(DONE)),
        ),
        {"HIST-7": "warn 20"},
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_with_its_line(name: str) -> None:
    recording, expected = FAULTS[name]

    assert bad(judge_cassette(recording)) == expected


def test_every_clause_that_is_judged_can_be_broken() -> None:
    # A pause that is answered by words is found by PAUSE-2; one that nothing follows is left open.
    assert {clause for _, found in FAULTS.values() for clause in found} == WIRE - {"PAUSE-1"}
    assert CLAUSES.keys() >= WIRE


def cut(whole: Response) -> Response:
    """A stream that was not recorded to its end."""
    return Response(status=200, headers=whole.headers, body=whole.body.partition(b"event: message_delta")[0])


NONE: dict[str, Cassette] = {
    "all is well": recorded(([ASK], CALLED), ([ASK, SENT_BACK, user(result())], DONE)),
    "a test that ends on a call": recorded(([ASK], CALLED)),
    "the same test twice": recorded(([ASK], CALLED), ([ASK], CALLED | {"id": "msg_9"})),
    "a pause that nothing follows": recorded(([ASK], reply("pause_turn", "Searching."))),
    "a retry": recorded(([ASK], refused(529, "overloaded_error", "Overloaded")), ([ASK], DONE)),
    "thinking is dropped in the next turn": recorded(
        ([ASK], reply("end_turn", thinking(), LONG)), ([ASK, assistant(LONG), user("And b?")], DONE)
    ),
    "a history written by hand": recorded(
        ([ASK], DONE), ([ASK, assistant("Something else."), user("And b?")], reply("end_turn", "b."))
    ),
    "a setting was refused": recorded(([ASK], refused(400, "invalid_request_error", "max_tokens: too many"))),
    "a test that is refused twice": recorded(
        *[([ASK], refused(400, "invalid_request_error", "max_tokens: too many"))] * 2
    ),
    "a reply that the request began": recorded(
        ([ASK, assistant("{")], reply("tool_use", '"a": 1}', call())),
        ([ASK, assistant('{"a": 1}', call()), user(result())], DONE),
    ),
    "two branches of one conversation": recorded(
        ([ASK], DONE),
        ([ASK, assistant(LONG), user("And b?")], reply("end_turn", "b.")),
        ([ASK, assistant(LONG), user("And c?")], reply("end_turn", "c.")),
    ),
    "a summary by somebody else": cassette(
        (request([ASK], tools=[TOOL], system="You look up."), answer(CALLED)),
        (request([ASK, SENT_BACK, user("Sum up.")], system="You sum up."), answer(reply("end_turn", "s."))),
        (request([ASK, SENT_BACK, user(result())], tools=[TOOL], system="You look up."), answer(DONE)),
    ),
    "a user who stops a reply and goes on": cassette(
        (request([ASK], stream=True), cut(answer(DONE, stream=True))),
        (request([ASK, assistant(LONG), user("And b?")]), answer(reply("end_turn", "b."))),
    ),
    "a tool that a message offers": recorded(
        (
            [ASK, {"role": "system", "content": [{"type": "tool_addition", "tool": {"name": "new"}}]}],
            reply("tool_use", call(name="new")),
        ),
        (
            [
                ASK,
                {"role": "system", "content": [{"type": "tool_addition", "tool": {"name": "new"}}]},
                assistant(call(name="new")),
                user(result()),
            ],
            DONE,
        ),
    ),
    "a string for a text": recorded(
        ([{"role": "user", "content": "What is it?"}], DONE),
        (
            [
                {"role": "user", "content": "What is it?"},
                {"role": "assistant", "content": LONG},
                user("Why?"),
            ],
            reply("end_turn", "b."),
        ),
    ),
    "it goes on after a cut": recorded(
        ([ASK], reply("max_tokens", LONG)), ([ASK, assistant(LONG), user("Go on.")], DONE)
    ),
    "the user goes on after a refusal": recorded(
        ([ASK], reply("refusal")), ([ASK, user("Then something else.")], DONE)
    ),
}


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_fault_is_not_called_one(name: str) -> None:
    assert bad(judge_cassette(NONE[name])) == {}


def test_streams_are_judged_like_whole_replies() -> None:
    def judged(*, stream: bool) -> Judged:
        return judge_cassette(
            cassette(
                (request([ASK], tools=[TOOL], stream=stream), answer(CALLED, stream=stream)),
                (
                    request(
                        [ASK, assistant("Looking.", call()), user(result())], tools=[TOOL], stream=stream
                    ),
                    answer(DONE, stream=stream),
                ),
            )
        )

    assert bad(judged(stream=True)) == bad(judged(stream=False)) == {"HIST-1": "fail 20", "HIST-4": "fail 20"}


def test_an_end_that_was_not_recorded_is_left_open_not_blamed() -> None:
    judged = judge_cassette(recorded(([ASK], CALLED)))
    left = {check.clause: check.message for check in judged.checks if check.grade == "inconclusive"}

    assert left == {"TOOL-1": "nothing of the conversation was recorded after request 1"}
    assert judged.grade == "pass"


def test_a_thread_is_resolved() -> None:
    create = {"thread": {"type": "create"}}
    go_on = {"thread": {"type": "continue", "previous_message_id": "msg_1"}}
    again = cassette(
        (request([ASK], tools=[TOOL], **create), answer(CALLED)),
        (request([SENT_BACK, user(result())], **go_on), answer(DONE)),
    )
    right = cassette(
        (request([ASK], tools=[TOOL], **create), answer(CALLED)),
        (request([user(result())], **go_on), answer(DONE)),
    )

    assert bad(judge_cassette(again)).keys() >= {"THREAD-1"}
    assert bad(judge_cassette(right)) == {}
    assert "THREAD-1" in {check.clause for check in judge_cassette(right).checks}


def other(uri: str, body: bytes = b"{}", said: bytes = b"{}") -> Interaction:
    return Interaction(
        request=Request(method="POST", uri=uri, headers=[], body=body),
        response=Response(status=200, headers=[], body=said),
        line=1,
    )


def test_what_is_not_the_messages_api_is_passed_over_and_counted() -> None:
    asked = b'{"messages":[]}'
    recording = Cassette(
        path=cassette().path,
        interactions=[
            other("https://api.openai.com/v1/chat/completions"),
            other("https://api.openai.com/v1/responses"),
            other("https://api.anthropic.com/v1/messages/count_tokens"),
            other("https://api.anthropic.com/v1/messages/batches/b_1/results"),
            other("https://api.anthropic.com/v1/messages", b"not json"),
            other("https://api.anthropic.com/v1/messages", asked, b"not json"),
        ],
    )
    judged = judge_cassette(recording)

    assert judged.skipped == {
        "of api.openai.com": 2,
        "of /v1/messages/count_tokens": 1,
        "of /v1/messages/batches": 1,
        "requests that are no JSON of a conversation": 1,
        "answers that cannot be read": 1,
    }
    assert (judged.requests, judged.conversations, judged.checks, judged.grade) == (0, 0, [], "unsupported")


def frame(event: Json) -> bytes:
    """An event as Amazon frames it; the checksums are nobody's business here."""
    payload = json.dumps({"bytes": base64.b64encode(json.dumps(event).encode()).decode()}).encode()
    return struct.pack(">III", 16 + len(payload), 0, 0) + payload + bytes(4)


def test_streams_of_amazon_are_judged_too() -> None:
    told = events_of(CALLED, Random(0), Told(era_of(CALLED)))
    body = b"".join(frame(event.data) for event in told)
    uri = BEDROCK + "-with-response-stream"
    kind = [("Content-Type", "application/vnd.amazon.eventstream")]
    framed = Response(status=200, headers=kind, body=body)
    first = json.dumps({"messages": [ASK], "tools": [TOOL]}).encode()
    later = [ASK, assistant("Looking.", call()), user(result())]
    second = json.dumps({"messages": later, "tools": [TOOL]}).encode()
    steps = [
        msgspec.structs.replace(other(uri, first), response=framed),
        other(BEDROCK, second, json.dumps(DONE).encode()),
    ]
    judged = judge_cassette(Cassette(path=cassette().path, interactions=steps))

    assert bad(judged).keys() == {"HIST-1", "HIST-4"}


VERTEX = (
    "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models/"
    "claude-sonnet-4-5@20250929:streamRawPredict"
)
BEDROCK = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-sonnet-4-5-v1%3A0/invoke"


@pytest.mark.parametrize("uri", [VERTEX, BEDROCK], ids=["Vertex", "Bedrock"])
def test_the_api_at_other_addresses_is_judged_too(uri: str) -> None:
    def at(messages: list[Json], said: Json) -> Interaction:
        body = {"messages": messages, "tools": [TOOL]}
        return other(uri, json.dumps(body).encode(), json.dumps(said).encode())

    steps = [at([ASK], CALLED), at([ASK, assistant("Looking.", call()), user(result())], DONE)]
    judged = judge_cassette(Cassette(path=cassette().path, interactions=steps))

    assert bad(judged).keys() == {"HIST-1", "HIST-4"}


def test_a_finding_of_shared_requests_is_told_once() -> None:
    blank = user("What is it?", " ")
    recording = recorded(
        ([blank], DONE),
        ([blank, assistant(LONG), user("And b?")], reply("end_turn", "b.")),
        ([blank, assistant(LONG), user("And c?")], reply("end_turn", "c.")),
    )
    found = [check.request for check in judge_cassette(recording).checks if check.clause == "HIST-6"]

    assert found == [1]
