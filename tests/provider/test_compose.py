from __future__ import annotations

from typing import Any

import pytest

from harness.own_tools import bind
from harness.provider.compose import Composer
from harness.provider.script import Play
from harness.provider.tools import client_tools
from harness.scenario.model import Reply, Step
from harness.wire.ids import Ids
from tests.provider.serve import call, text

SEARCH = {"type": "server_tool_use", "name": "web_search"}
HIT = {"type": "web_search_result", "title": "t", "url": "u"}
FOUND: dict[str, Any] = {
    "type": "web_search_tool_result",
    "content": [{"type": "web_search_result", "title": "t", "url": "u"}],
}
MCP = {"type": "mcp_tool_use", "name": "n"}
MCP_RESULT = {"type": "mcp_tool_result", "content": []}


class Said:
    """Composes replies one after the other, each of them delivered."""

    def __init__(self, seed: int = 0) -> None:
        self.composer = Composer(Ids(seed))
        self.index = 0

    def __call__(
        self, *blocks: dict[str, Any], round_: int = 0, offered: tuple[str, ...] = ("lookup",)
    ) -> Any:
        reply = Reply(content=list(blocks))
        content = self.composer.content(reply, Play(self.index, round_, Step(reply=reply)), ("lookup",))
        self.composer.delivered(content)
        self.index += 1
        return content


def test_ids_that_were_left_out_are_made_up_by_kind() -> None:
    blocks = Said()(call(), SEARCH, MCP)
    assert [block["id"].partition("_")[0] for block in blocks] == ["toolu", "srvtoolu", "mcptoolu"]
    assert blocks[1]["input"] == {}
    assert blocks[2]["server_name"]


def test_real_ids_are_kept_and_labels_stand_for_one_id() -> None:
    say = Said()
    kept, named = say(call() | {"id": "toolu_mine"}, SEARCH | {"id": "the search"})
    assert kept["id"] == "toolu_mine"
    assert named["id"].startswith("srvtoolu_01")
    assert say(FOUND | {"tool_use_id": "the search"})[0]["tool_use_id"] == named["id"]


def test_the_same_seed_gives_the_same_content() -> None:
    blocks = (call(), {"type": "thinking", "thinking": "x"}, {"type": "redacted_thinking"})
    assert Said(1)(*blocks) == Said(1)(*blocks)
    assert Said(1)(*blocks) != Said(2)(*blocks)


def test_signatures_and_opaque_data_are_filled_in_and_written_ones_kept() -> None:
    made, kept, redacted = Said()(
        {"type": "thinking", "thinking": "x"},
        {"type": "thinking", "thinking": "x", "signature": "mine"},
        {"type": "redacted_thinking"},
    )
    assert len(made["signature"]) > 100
    assert kept["signature"] == "mine"
    assert len(redacted["data"]) > 100


def test_a_result_answers_the_oldest_open_call_of_its_kind() -> None:
    first, mcp, second, answer, other = Said()(SEARCH, MCP, SEARCH, FOUND, MCP_RESULT)
    assert answer["tool_use_id"] == first["id"]
    assert other["tool_use_id"] == mcp["id"]
    assert second["id"] not in (answer["tool_use_id"], other["tool_use_id"])


def test_a_resumed_turn_begins_with_the_result_of_the_paused_call() -> None:
    say = Said()
    _, paused = say(text("Looking."), SEARCH)
    assert say(FOUND, text("Found."))[0]["tool_use_id"] == paused["id"]


def test_a_reply_that_was_not_delivered_leaves_its_calls_out() -> None:
    composer = Composer(Ids())
    reply = Reply(content=[SEARCH])
    lost = composer.content(reply, Play(0, 0, Step(reply=reply)), ())
    again = composer.content(reply, Play(0, 0, Step(reply=reply)), ())
    assert lost == again
    composer.delivered(again)
    found = Reply(content=[FOUND])
    answer = composer.content(found, Play(1, 0, Step(reply=found)), ())
    assert answer[0]["tool_use_id"] == again[0]["id"]


def test_a_new_turn_does_not_answer_old_calls() -> None:
    say = Said()
    (old,) = say(SEARCH)
    say.composer.begin_turn()
    new, answer = say(SEARCH, FOUND)
    assert answer["tool_use_id"] == new["id"] != old["id"]


def test_a_repeated_step_makes_new_calls_every_time() -> None:
    say = Said()
    block = call() | {"id": "again"}
    ids = {say(block, round_=n)[0]["id"] for n in range(5)}
    assert len(ids) == 5


def test_search_hits_get_their_encrypted_content() -> None:
    _, found = Said()(SEARCH, FOUND)
    assert found["content"][0]["encrypted_content"]
    assert HIT == {"type": "web_search_result", "title": "t", "url": "u"}


def test_unknown_blocks_are_carried_as_they_are() -> None:
    novelty = {"type": "hologram", "id": "a label", "rays": [1, {"b": None}]}
    assert Said()(novelty) == [novelty]


@pytest.mark.parametrize(
    ("offered", "meant"),
    [
        (["lookup", "other"], "lookup"),
        (["Lookup"], "Lookup"),
        (["look_up"], "look_up"),
        (["functions.lookup", "functions.other"], "functions.lookup"),
        (["mcp__server__lookup"], "mcp__server__lookup"),
        (["a_lookup", "b_lookup"], "lookup"),
        (["search"], "lookup"),
    ],
)
def test_a_call_means_the_tool_that_was_offered(offered: list[str], meant: str) -> None:
    assert bind("lookup", offered) == meant


def test_tools_that_the_server_runs_are_not_the_clients() -> None:
    tools = [
        {"name": "lookup", "input_schema": {}},
        {"type": "custom", "name": "other"},
        {"type": "bash_20250124", "name": "bash"},
        {"type": "web_search_20250305", "name": "web_search"},
        {"type": "mcp_toolset", "mcp_server_name": "s"},
    ]
    assert client_tools(tools) == ["lookup", "other", "bash"]
