"""Whatever the installed SDK can send is known to the rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_origin

import pytest
import typing_extensions as te
from anthropic.types import beta

from harness.provider.rules.schema import (
    BODY_FIELDS,
    CUSTOM_TOOL_FIELDS,
    MESSAGE_FIELDS,
    SYSTEM_MESSAGE_FIELDS,
)
from harness.wire.blocks import FIELDS
from tests.provider.asking import HI, findings, tool
from tests.provider.serve import body


def fields(kind: Any) -> dict[str, Any]:
    return te.get_type_hints(kind, include_extras=True)


def values(hint: Any) -> Iterator[str]:
    """The words a field may hold."""
    for part in get_args(hint):
        if isinstance(part, str):
            yield part
        elif get_origin(part) is not None or get_args(part):
            yield from values(part)


def sent(union: Any) -> list[Any]:
    """The types of a union that a request holds; the others come with a reply."""
    return [kind for kind in get_args(union) if hasattr(kind, "__required_keys__")]


@pytest.mark.parametrize("kind", sent(beta.BetaContentBlockParam), ids=lambda kind: kind.__name__)
def test_every_block_is_known_with_its_fields(kind: Any) -> None:
    for name in values(fields(kind)["type"]):
        assert set(fields(kind)) <= set(FIELDS[name])


@pytest.mark.parametrize("kind", sent(beta.BetaToolUnionParam), ids=lambda kind: kind.__name__)
def test_every_tool_is_known(kind: Any) -> None:
    for name in values(fields(kind)["type"]):
        rules = {finding.rule for finding in findings(body(tools=[tool("x"), tool("y", type=name)]))}
        assert "tag_unknown" not in rules


def test_every_field_of_a_tool_of_ones_own_is_known() -> None:
    assert set(fields(beta.BetaToolParam)) == CUSTOM_TOOL_FIELDS


def test_every_field_of_a_request_is_known() -> None:
    from anthropic.types.beta.message_create_params import MessageCreateParamsStreaming

    in_headers = {"betas", "user_profile_id", "workspace_id"}
    assert set(fields(MessageCreateParamsStreaming)) - in_headers <= BODY_FIELDS


def test_every_field_of_a_message_is_known() -> None:
    assert set(fields(beta.BetaUserMessageParam)) == MESSAGE_FIELDS
    assert set(fields(beta.BetaAssistantMessageParam)) == MESSAGE_FIELDS
    assert set(fields(beta.BetaSystemMessageParam)) == SYSTEM_MESSAGE_FIELDS


def test_every_effort_is_known_to_a_current_model() -> None:
    for effort in values(fields(beta.BetaOutputConfigParam)["effort"]):
        assert not findings(body(HI, model="claude-opus-5", output_config={"effort": effort}))
