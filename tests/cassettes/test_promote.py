"""Recorded conversations as scenarios: what is kept, what is put in other words, what is left out."""

from __future__ import annotations

from typing import Any

import pytest

from harness.case import Case
from harness.cassettes.conversations import told_apart
from harness.cassettes.exchanges import talk_of
from harness.cassettes.model import Cassette
from harness.cassettes.promote import Options, Promoted, promote
from harness.cassettes.rounds import of_conversation
from harness.history import RequestSeen
from harness.loops.reference import loop
from harness.runner import Runner
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
from tests.cassettes.same_requests import Same

ASK = user("Where does Jane Miller live, and since when?")
CALLED = reply("tool_use", thinking("Jane Miller lives somewhere."), call(who="Jane Miller"))
BACK = [ASK, assistant(thinking("Jane Miller lives somewhere."), call(who="Jane Miller"))]
DONE = reply("end_turn", "Jane Miller lives in Lisbon, at 1725 Rua Augusta.", identifier="msg_2")


def recorded(*steps: tuple[list[Any], Any], **body: Any) -> Cassette:
    return cassette(*((request(asked, tools=[TOOL], **body), answer(said)) for asked, said in steps))


def made(recording: Cassette, **options: Any) -> Promoted:
    [conversation] = told_apart(talk_of(recording).exchanges)
    return promote(of_conversation(conversation), "x.yaml, line 1", "x", Options(**options))


def script(promoted: Promoted, turn: int = 0) -> list[Any]:
    """The steps of a turn, shortened to what they are."""
    found = []
    for step in promoted.scenario.turns[turn].script:
        if step.reply is not None:
            kinds = [block["type"] for block in step.reply.content]
            found.append((step.reply.stop_reason, kinds, [each.by for each in step.reply.breaks]))
        elif step.fault is not None:
            found.append((step.fault.status, step.fault.headers))
    return found


WHOLE = recorded(
    (BACK[:1], CALLED), ([*BACK, user(result(content="Lisbon"))], DONE), system="You know Jane Miller."
)


def test_a_tool_turn_becomes_a_script_with_its_tool() -> None:
    promoted = made(WHOLE, keep_text=True)

    assert script(promoted) == [
        ("tool_use", ["thinking", "tool_use"], []),
        ("end_turn", ["text"], []),
    ]
    [tool] = promoted.scenario.tools
    assert (tool.name, tool.answers[0].result) == ("look_up", "Lisbon")
    assert promoted.scenario.task.system == "You know Jane Miller."
    assert promoted.scenario.turns[0].prompt == "Where does Jane Miller live, and since when?"
    assert promoted.text.startswith("# Promoted from x.yaml, line 1.\n")
    assert {"HIST-4", "TOOL-1", "SHOW-1"} <= set(promoted.scenario.clauses)


def test_by_default_no_name_is_left() -> None:
    text = made(WHOLE).text

    for word in ("Jane", "Miller", "Lisbon", "Augusta", "1725"):
        assert word not in text
    assert "look_up" in text


SECRETS = {
    "a key": "sk-ant-api03-Abcdefgh12345678",
    "an AWS key": "AKIAIOSFODNN7EXAMPLE",
    "a mail address": "jane.miller@example.org",
    "a telephone": "+49 170 1234567",
    "a card": "4111 1111 1111 1111",
    "a token": "Bearer abcdefghijklmnop1234",
}


@pytest.mark.parametrize("keep_text", [False, True])
@pytest.mark.parametrize("secret", SECRETS.values(), ids=list(SECRETS))
def test_no_secret_is_left_wherever_it_stood(secret: str, *, keep_text: bool) -> None:
    asked = user(f"I am {secret}.")
    said = [thinking(f"They are {secret}."), f"You said {secret}, did you not?", call(who=secret)]
    second = [asked, assistant(*said), user(result(content=f"it is {secret} indeed"))]
    third = [*second, assistant(*DONE["content"]), user(f"And {secret}?")]
    recording = recorded(
        ([asked], reply("tool_use", *said)),
        (second, DONE),
        (third, refused(400, "invalid_request_error", f"max_tokens: {secret} is wrong")),
        system=f"Work for {secret}.",
    )
    text = made(recording, keep_text=keep_text).text

    assert secret not in text
    assert secret.rpartition(" ")[2] not in text


def test_several_user_messages_become_turns() -> None:
    recording = recorded(
        ([ASK], DONE),
        ([ASK, assistant(*DONE["content"]), user("And who else?")], reply("end_turn", "Nobody.")),
    )
    promoted = made(recording, keep_text=True)

    assert [turn.prompt for turn in promoted.scenario.turns][1] == "And who else?"
    assert [len(turn.script) for turn in promoted.scenario.turns] == [1, 1]


def test_a_history_that_came_along_is_played_first() -> None:
    before = [
        user("Hello."),
        assistant("Good day."),
        ASK,
        assistant(call("a", who="Jo")),
        user(result("a", "x y z")),
    ]
    promoted = made(recorded((before, DONE)), keep_text=True)

    assert [turn.prompt for turn in promoted.scenario.turns] == ["Hello.", ASK["content"][0]["text"]]
    assert script(promoted, 1) == [("tool_use", ["tool_use"], []), ("end_turn", ["text"], [])]


def test_failures_are_part_of_it_and_long_waits_are_not() -> None:
    recording = cassette(
        (request([ASK]), answer(refused(529, "overloaded_error", "Overloaded"))),
        (request([ASK]), waiting(answer(refused(429, "rate_limit_error", "Slow down")))),
        (request([ASK]), answer(DONE)),
    )

    assert script(made(recording)) == [(529, {}), (429, {"retry-after": "1"}), ("end_turn", ["text"], [])]


def waiting(response: Any) -> Any:
    return type(response)(
        status=response.status, headers=[*response.headers, ("retry-after", "60")], body=response.body
    )


def test_a_recording_that_ends_too_soon_gets_an_end() -> None:
    promoted = made(recorded(([ASK], CALLED)))

    assert script(promoted)[-1] == ("end_turn", ["text"], [])
    assert "the last reply is made up" in promoted.text


def test_a_stream_that_was_cut_breaks_off() -> None:
    whole = answer(DONE, stream=True)
    cut = type(whole)(
        status=200, headers=whole.headers, body=whole.body.partition(b"event: message_delta")[0]
    )
    promoted = made(cassette((request([ASK], stream=True), cut), (request([ASK], stream=True), whole)))

    assert script(promoted) == [("end_turn", ["text"], ["close"]), ("end_turn", ["text"], [])]
    assert promoted.scenario.streams == "only"


def test_a_tool_answers_by_its_input() -> None:
    said = [call("a", who="Jo"), call("b", who="Al")]
    back = user(result("a", "one thing"), result("b", "no such person", is_error=True))
    promoted = made(
        recorded(([ASK], reply("tool_use", *said)), ([ASK, assistant(*said), back], DONE)), keep_text=True
    )

    [tool] = promoted.scenario.tools
    assert [(each.when, each.result, each.raises) for each in tool.answers] == [
        ({"who": "Jo"}, "one thing", None),
        ({"who": "Al"}, None, "no such person"),
    ]


def test_a_tool_that_was_not_offered_stays_unknown() -> None:
    promoted = made(recorded(([ASK], reply("tool_use", call(name="nothing")))))

    assert promoted.scenario.tools == []
    assert "TOOL-5" in promoted.scenario.clauses


def search(identifier: str) -> Json:
    query = {"query": identifier}
    return {"type": "server_tool_use", "id": identifier, "name": "web_search", "input": query}


def found(identifier: str) -> Json:
    hit = {"type": "web_search_result", "title": identifier, "url": "https://x.example"}
    return {"type": "web_search_tool_result", "tool_use_id": identifier, "content": [hit]}


@pytest.mark.parametrize(
    ("order", "labels"),
    [
        (["one", "two"], [None] * 5),
        (["two", "one"], ["call 1", "call 2", "call 2", "call 1", None]),
    ],
)
def test_results_of_the_server_keep_their_calls(order: list[str], labels: list[str | None]) -> None:
    said = [search("one"), search("two"), *map(found, order), "Both were found."]
    step = made(recorded(([ASK], reply("end_turn", *said)))).scenario.turns[0].script[0]

    assert step.reply is not None
    assert [block.get("id") or block.get("tool_use_id") for block in step.reply.content] == labels


def test_long_texts_are_cut_where_that_is_asked_for() -> None:
    recording = recorded(([user("word " * 400)], reply("end_turn", "other " * 400)))

    assert len(made(recording).text) > 4000
    assert len(made(recording, shorten=80).text) < 800


def test_texts_that_are_the_same_are_told_apart() -> None:
    recording = recorded(
        ([ASK], reply("end_turn", "OK")),
        ([ASK, assistant("OK"), user("Say OK again.")], reply("end_turn", "OK", identifier="msg_2")),
    )
    promoted = made(recording)
    texts = [turn.script[0].reply.content[0]["text"] for turn in promoted.scenario.turns]  # type: ignore[union-attr]

    assert len(set(texts)) == 2
    assert "2 of its texts came twice" in promoted.text


def test_what_a_scenario_cannot_say_is_told() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}}
    recording = recorded(
        ([user("What is this?", image), {"role": "system", "content": "Be brief."}, assistant("{")], DONE)
    )
    notes = " ".join(made(recording).notes)

    assert "not image" in notes
    assert "role `system`" in notes
    assert "The beginning of a reply" in notes


def test_a_right_loop_that_plays_it_asks_what_was_recorded() -> None:
    promoted = made(WHOLE)
    with Runner(loop, in_process=True) as runner:
        results = runner.run_all([Case(promoted.scenario, variant) for variant in ("json", "sse")])

    assert [each.grade for each in results] == ["pass", "pass"]
    for each in results:
        same = Same()
        played = [event.body["messages"] for event in each.events if isinstance(event, RequestSeen)]
        assert len(played) == len(WHOLE.interactions)
        for one, messages in zip(talk_of(WHOLE).exchanges, played, strict=True):
            same.compare(one.body["messages"], messages, f"request {one.number}")
        assert same.problems == []
        assert same.there["Lisbon"] != "Lisbon"
