"""Every bundled reply, heard by the `anthropic` client: whole or streamed, it is the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import msgspec
import pytest
from anthropic.types import ContentBlock

from harness.scenario.model import Scenario
from tests.bundled_replies import Said, each_reply
from tests.provider.serve import Served, body, scenario
from tests.test_sdk_types import models

KEY = "sk-ant-test"
PLAIN_BLOCKS = models(ContentBlock).keys()


class Ears:
    """One provider, and a client. That its two forms hear the same is shown beside this, by fewer replies."""

    def __init__(self) -> None:
        self.served = Served()
        url = f"{self.served.provider.url}/w0"
        self._client = anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0)

    def hear(self, script: Scenario, asked: dict[str, Any], *, beta: bool) -> tuple[dict[str, Any], ...]:
        """The script's first message twice: whole and streamed."""
        messages: Any = self._client.beta.messages if beta else self._client.messages
        self.served.open(script)
        whole = messages.create(**asked)
        # A script of its own each time: a repeated step names its calls anew.
        self.served.open(script)
        with messages.stream(**asked) as events:
            return plain(whole), plain(events.get_final_message())

    def close(self) -> None:
        self._client.close()
        self.served.close()


@pytest.fixture(scope="module")
def ears() -> Iterator[Ears]:
    made = Ears()
    yield made
    made.close()


def plain(message: Any) -> dict[str, Any]:
    """A message without what differs from one request to the next, and what only the client knows."""
    dumped: dict[str, Any] = message.to_dict(mode="json", warnings=False)
    del dumped["id"]
    for block in dumped["content"]:
        block.pop("parsed_output", None)
        if block["type"] == "compaction" and block.get("encrypted_content", "") is None:
            del block["encrypted_content"]  # a delta tells it by name also where there is none
    if dumped.get("container"):
        dumped["container"] = {key: value for key, value in dumped["container"].items() if value is not None}
        dumped["container"].pop("expires_at")
    return {key: value for key, value in dumped.items() if value is not None}


@each_reply()
def test_a_bundled_reply_is_one_message_however_it_is_heard(said: Said, ears: Ears) -> None:
    at_once = {"delay": 0.0, "gap": 0.0, "server_gap": 0.0, "breaks": []}
    step = msgspec.structs.replace(said.step, reply=msgspec.structs.replace(said.reply, **at_once), repeat=1)
    script = msgspec.structs.replace(scenario([step]), era=said.scenario.era)
    tools = [{"name": tool.name, "input_schema": tool.input_schema} for tool in said.scenario.tools]
    # Only the beta part of the client assembles the input of an `mcp_tool_use`.
    beta = not {block["type"] for block in said.content} <= PLAIN_BLOCKS
    asked = body(tools=tools or body()["tools"])
    whole, streamed = ears.hear(script, asked, beta=beta and not said.unheard_of)
    assert whole == streamed
    assert whole["stop_reason"] == said.reply.stop_reason
    assert [block["type"] for block in whole["content"]] == [block["type"] for block in said.content]
