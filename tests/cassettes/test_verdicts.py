"""Faults that can be seen in recorded traffic, and what is none although it looks like one."""

from __future__ import annotations

import base64
import json
import struct
from random import Random

import msgspec
import pytest

from harness.cassettes.model import Cassette, Interaction, Request, Response
from harness.cassettes.traffic import WIRE
from harness.cassettes.verdicts import Judged, judge_cassette
from harness.clauses import CLAUSES
from harness.wire.eras import era_of
from harness.wire.events import Told, events_of
from tests.cassettes.faulty import FAULTS
from tests.cassettes.recordings import (
    ASK,
    CALLED,
    DONE,
    LONG,
    SENT_BACK,
    TOOL,
    Json,
    answer,
    assistant,
    call,
    cassette,
    recorded,
    refused,
    reply,
    request,
    result,
    thinking,
    user,
)


def bad(judged: Judged) -> dict[str, str]:
    return {
        check.clause: f"{check.grade} {judged.line(check)}"
        for check in judged.checks
        if check.grade not in ("pass", "inconclusive")
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
    "the user says something else after a refusal": recorded(
        ([ASK], reply("refusal")), ([user("Then something else.")], DONE)
    ),
}


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_fault_is_not_called_one(name: str) -> None:
    assert bad(judge_cassette(NONE[name])) == {}


def test_what_was_refused_and_stays_is_told() -> None:
    kept = recorded(([ASK], reply("refusal")), ([ASK, user("Then something else.")], DONE))

    assert list(bad(judge_cassette(kept))) == ["REFUSE-4"]


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
        "with a request that is no JSON of a conversation": 1,
        "with an answer that cannot be read": 1,
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
