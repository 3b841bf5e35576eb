"""Recordings that are behind: the client's types, the keys of replies, the requests of the loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cassettes.drift import drift_of, key_of
from harness.cassettes.find import find
from harness.cassettes.model import Cassette
from harness.provider.compose import compose
from harness.scenario.model import Reply
from harness.wire.cache import PromptCache
from harness.wire.eras import CURRENT, EraName, era
from harness.wire.wanted import Wanted
from tests.cassettes.recordings import Json, answer, assistant, call, cassette, reply, request, result, user

ASK = user("What is a?")


def told(message: Json, *, stream: bool = False) -> Cassette:
    return cassette((request([ASK], stream=stream), answer(message, stream=stream)))


def of_today(name: EraName = CURRENT, **more: Any) -> Json:
    """A reply as the provider sends it."""
    said = [{"citations": None, "type": "text", "text": "A thing."}]
    wanted = Wanted.of({"model": "claude-opus-4-6", "max_tokens": 100}, {})
    seen = {"messages": [ASK]}
    composed = compose(
        "msg_1", Reply(content=said), said, seen, wanted=wanted, cache=PromptCache(), of=era(name)
    )
    return composed.message | more


def found(recording: Cassette, sent: frozenset[bytes] | None = None) -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = {}
    for each in drift_of(recording, sent).findings:
        kinds.setdefault(each.kind, []).append(each.text)
    return kinds


def test_a_reply_of_today_is_not_behind() -> None:
    assert found(told(of_today())) == {}
    assert found(told(of_today(), stream=True)) == {}


def test_keys_that_came_since_are_told() -> None:
    changed = found(told(of_today("2025-08")))["changed"]

    assert "`stop_details` has come" in changed
    assert "`usage.inference_geo` has come" in changed


def test_keys_that_nobody_knows_are_told() -> None:
    recording = told(of_today(mood="fine"))

    assert found(recording) == {"unknown": ["the reply has `mood`"]}
    assert drift_of(recording).where(drift_of(recording).findings[0]) == "x.yaml:10"


def test_what_the_types_of_the_client_do_not_take_is_told() -> None:
    message = of_today()
    del message["usage"]["output_tokens"]

    assert found(told(message))["sdk"] == ["usage.output_tokens: Field required"]


def test_of_a_block_only_what_its_own_type_asks_for_is_told() -> None:
    odd = of_today(content=[{"type": "thinking", "thinking": "Hm."}, {"type": "brand_new"}])

    assert found(told(odd))["sdk"] == [
        "content.0.signature: Field required",
        "content.1: none of the types that may stand here",
    ]


def test_an_event_the_client_does_not_know_is_told() -> None:
    whole = answer(of_today(), stream=True)
    body = whole.body + b'event: news\ndata: {"type": "news"}\n\n'
    recording = cassette((request([ASK]), type(whole)(status=200, headers=whole.headers, body=body)))

    assert found(recording)["sdk"] == ["news: the client does not know this event"]


def test_requests_that_are_not_sent_any_more_are_told() -> None:
    sent = frozenset({key_of({"model": "claude-opus-4-6", "max_tokens": 100, "messages": [ASK]})})
    kept, gone = request([ASK]), request([user("What is b?")])
    recording = cassette((kept, answer(of_today())), (gone, answer(of_today())))

    drift = drift_of(recording, sent)

    assert [(each.kind, each.line) for each in drift.findings] == [("unsent", 20)]
    assert (drift.requests, drift.replies) == (2, 2)


def test_ids_and_who_asked_make_no_other_request() -> None:
    def key(identifier: str, who: str, text: str = "b") -> bytes:
        messages = [ASK, assistant(call(identifier)), user(result(identifier, text))]
        return key_of({"messages": messages, "metadata": {"user_id": who}})

    assert key("toolu_1", "a") == key("toolu_2", "b")
    assert key("toolu_1", "a") != key("toolu_1", "a", "c")


def test_errors_and_broken_answers_are_no_replies() -> None:
    failed = (400, {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}})
    recording = cassette((request([ASK]), answer(failed)))

    assert (drift_of(recording).replies, found(recording)) == (0, {})
    assert reply("end_turn")["type"] == "message"


def test_the_projects_own_recordings_are_not_behind() -> None:
    own = list(find([Path(__file__).parents[2] / "cassettes"]).read())
    behind = [(drift.where(each), each.text) for drift in map(drift_of, own) for each in drift.findings]

    assert own
    assert behind == []
