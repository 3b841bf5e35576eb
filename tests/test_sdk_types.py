"""What the installed client knows, the wire knows; and the client's own models parse what is sent."""

from __future__ import annotations

import json
from random import Random
from typing import Any, get_args

import pytest
from anthropic.types import ContentBlock, Message, RawContentBlockDelta, RawMessageStreamEvent, StopReason
from anthropic.types.beta import (
    BetaContentBlock,
    BetaMessage,
    BetaRawContentBlockDelta,
    BetaRawMessageStreamEvent,
    BetaStopReason,
    BetaUsage,
)
from pydantic import TypeAdapter

from harness.provider.compose import Composed, compose
from harness.wire.blocks import FIELDS, STOP_REASONS
from harness.wire.cache import PromptCache
from harness.wire.codec import dumps
from harness.wire.deltas import DELTAS
from harness.wire.eras import ERAS, USAGE_ORDER, Era, era
from harness.wire.events import EVENTS, Told, events_of
from harness.wire.wanted import Wanted
from tests.bundled_replies import Said, each_reply, replies

SEEN = {"messages": [{"role": "user", "content": "What changed?"}]}
EVENT = {False: TypeAdapter(RawMessageStreamEvent), True: TypeAdapter(BetaRawMessageStreamEvent)}
MESSAGE: dict[bool, Any] = {False: Message, True: BetaMessage}


def models(union: Any) -> dict[str, Any]:
    """The models of one of the client's unions by the `type` they are for."""
    members = get_args(get_args(union)[0])
    return {name: model for model in members for name in get_args(model.model_fields["type"].annotation)}


PLAIN_BLOCKS = models(ContentBlock).keys()


def wire_names(model: Any) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


@pytest.mark.parametrize("known", [StopReason, BetaStopReason])
def test_every_stop_reason_of_the_client_is_known(known: Any) -> None:
    assert set(get_args(known)) <= STOP_REASONS


@pytest.mark.parametrize("union", [ContentBlock, BetaContentBlock])
def test_every_block_of_the_client_is_known_with_its_fields(union: Any) -> None:
    for kind, model in models(union).items():
        assert kind in FIELDS
        assert wire_names(model) <= set(FIELDS[kind]), kind


@pytest.mark.parametrize("union", [RawContentBlockDelta, BetaRawContentBlockDelta])
def test_every_delta_of_the_client_is_known_with_its_fields(union: Any) -> None:
    for kind, model in models(union).items():
        assert wire_names(model) - {"type"} <= set(DELTAS[kind]), kind


@pytest.mark.parametrize("union", [RawMessageStreamEvent, BetaRawMessageStreamEvent])
def test_every_event_of_the_client_is_known(union: Any) -> None:
    assert models(union).keys() <= EVENTS


def test_every_field_of_a_message_and_its_usage_has_a_place() -> None:
    assert wire_names(BetaMessage) | wire_names(Message) <= set(era().order)
    assert wire_names(BetaUsage) <= set(USAGE_ORDER)


def composed(said: Said, of: Era) -> Composed:
    wanted = Wanted.of({"model": "claude-opus-4-6", "max_tokens": 100}, {})
    return compose("msg_01", said.reply, said.content, SEEN, wanted=wanted, cache=PromptCache(), of=of)


def needs_beta(said: Said) -> bool:
    """Whether only the beta part of the client knows all of it."""
    plain = {block["type"] for block in said.content} <= PLAIN_BLOCKS
    return not plain or said.reply.stop_reason not in get_args(StopReason)


@each_reply(known=True)
def test_the_client_parses_a_reply_in_strict_mode(said: Said) -> None:
    for of in ERAS:
        data = dumps(composed(said, of).message)
        for beta in {True, needs_beta(said)}:
            parsed = MESSAGE[beta].model_validate_json(data, strict=True)
            assert unknown_to(parsed) == {}
            # Times are written anew.
            assert without(parsed.to_dict(mode="json"), "container") == without(json.loads(data), "container")


@each_reply(known=True)
def test_the_client_parses_every_event_of_a_reply_in_strict_mode(said: Said) -> None:
    made = composed(said, era())
    told = Told(era(), said.reply.tool_input_json, made.first)
    for event in events_of(made.message, Random(0), told):
        for beta in {True, needs_beta(said)} if event.name != "ping" else ():
            parsed = EVENT[beta].validate_json(dumps(event.data), strict=True)
            assert parsed.type == event.name
            assert unknown_to(parsed) == {}


def without(message: dict[str, Any], field: str) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key != field}


def unknown_to(parsed: Any) -> dict[str, Any]:
    """What the client's model has no field for, of the message and its usage."""
    found = dict(parsed.model_extra or {})
    usage = getattr(parsed, "usage", None)
    found |= (usage.model_extra or {}) if usage is not None else {}
    return found


def test_few_replies_are_about_what_no_client_knows() -> None:
    unheard_of = [said.id for said in replies() if said.unheard_of]
    assert 0 < len(unheard_of) < len(replies()) / 10
