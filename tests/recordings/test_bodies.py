"""From a recorded request and the blocks of its answer come the recorded keys, in their order."""

from __future__ import annotations

import json
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from harness.provider.compose import Composer, compose
from harness.provider.script import Play
from harness.scenario.model import Reply, Step
from harness.wire.cache import PromptCache
from harness.wire.codec import dumps
from harness.wire.eras import ERAS, Era, era_of, era_on
from harness.wire.ids import Ids
from harness.wire.wanted import Wanted
from tests.recordings.cassettes import Exchange, conversations, each_of, kept, params
from tests.recordings.streams import keys

OF_THE_REPLY = ("stop_reason", "stop_sequence", "stop_details", "container")


def bodies(*, in_order: bool) -> list[Exchange]:
    """The recorded plain replies whose keys are, or are not, in the order of the wire."""
    return [
        one
        for one in conversations()
        if one.status == 200
        and isinstance(one.answered, dict)
        and one.answered.get("type") == "message"
        and one.sorted_keys is not in_order
    ]


IN_ORDER = params(bodies(in_order=True))
SORTED = bodies(in_order=False)


def replied(recorded: Exchange, of: Era) -> dict[str, Any]:
    """What the provider answers to the recorded request with the recorded blocks."""
    answer = recorded.answered
    # Who called for these blocks is filled in by the era, for others it is written by the scenario.
    content = [
        {k: v for k, v in block.items() if k != "caller" or block["type"] not in ERAS[-1].callers}
        for block in answer["content"]
    ]
    reply = Reply(content=content, **{key: answer.get(key) for key in OF_THE_REPLY})
    names = [block["name"] for block in content if "name" in block]
    filled = Composer(Ids(0), of).content(reply, Play(0, 0, Step(reply=reply)), names)
    wanted = Wanted.of(recorded.asked, recorded.request_headers)
    composed = compose("msg_01", reply, filled, recorded.asked, wanted=wanted, cache=PromptCache(), of=of)
    message: dict[str, Any] = json.loads(dumps(composed.message))
    return message


@pytest.mark.parametrize("recorded", IN_ORDER)
def test_a_body_has_the_recorded_keys_in_their_order(recorded: Exchange) -> None:
    assert keys(replied(recorded, era_of(recorded.answered))) == keys(recorded.answered)


@pytest.mark.parametrize("recorded", IN_ORDER)
def test_a_body_is_of_the_era_of_its_day(recorded: Exchange) -> None:
    if "date" not in recorded.headers:
        pytest.skip("its date was not kept")
    day = parsedate_to_datetime(recorded.headers["date"]).date().isoformat()
    assert keys(replied(recorded, era_on(day))) == keys(recorded.answered)


@each_of(SORTED)
def test_a_body_whose_keys_were_sorted_has_the_keys_of_an_era(recorded: Exchange) -> None:
    # The recorder sorted the keys, so that their order cannot be compared.
    assert said(recorded.answered) in [said(replied(recorded, of)) for of in ERAS]


@pytest.mark.parametrize("recorded", params([one for one in kept() if one.body["type"] == "message"]))
def test_a_message_without_its_request_has_the_order_of_its_era(recorded: Any) -> None:
    from harness.wire.eras import arranged

    shuffled = dict(sorted(recorded.body.items()))
    shuffled["usage"] = dict(sorted(recorded.body["usage"].items()))
    assert keys(arranged(shuffled, era_of(recorded.body))) == keys(recorded.body)


def said(message: dict[str, Any]) -> Any:
    """The keys of a message, whatever their order.

    Whether pages fetched are counted beside searches went back and forth for months: both are right.
    """
    found = unordered(message)
    found["usage"].get("server_tool_use", {}).pop("web_fetch_requests", None)
    return found


def unordered(value: Any) -> Any:
    """The keys of a value, whatever their order."""
    if isinstance(value, dict):
        return {key: unordered(each) for key, each in value.items()}
    if isinstance(value, list):
        return [unordered(each) for each in value]
    return None
