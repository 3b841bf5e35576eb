"""What was accepted is not looked at again, and that changes no verdict."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.provider.facts import Facts, Served
from harness.provider.memory import Memory
from harness.provider.request import Request
from harness.provider.rules import examine
from harness.transcript import conversation_of
from harness.wire.codec import dumps
from tests.provider.asking import HEADERS, HI, findings, found, model, result, search, system, t, use, user
from tests.provider.serve import body

BETAS = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}


def facts_of(asked: dict[str, Any], served: Served) -> Facts:
    request = Request(method="POST", path="/v1/messages", headers=HEADERS, raw=dumps(asked))
    request.decode()
    return Facts.of(request, conversation_of(request.body), served)


def loop(turns: int) -> list[dict[str, Any]]:
    messages = [HI]
    for n in range(turns):
        messages += [model(use(f"toolu_{n}")), user([result(f"toolu_{n}")])]
    return messages


def test_a_long_turn_is_looked_at_a_few_messages_at_a_time() -> None:
    served = Served()
    messages = loop(200)
    looked = []
    for end in range(1, len(messages) + 1, 2):
        facts = facts_of(body(*messages[:end]), served)
        assert list(examine(facts)) == []
        looked.append(len(facts.said))
    assert max(looked) <= 5
    assert looked[-1] == looked[5]


def test_cache_marks_that_move_on_cost_nothing_more() -> None:
    served = Served()
    messages = loop(50)
    looked = []
    for end in range(1, len(messages) + 1, 2):
        sent = copy.deepcopy(messages[:end])
        if isinstance(sent[-1]["content"], list):
            sent[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
        facts = facts_of(body(*sent), served)
        assert list(examine(facts)) == []
        looked.append(len(facts.said))
    assert max(looked) <= 7


def test_another_model_or_other_tools_are_looked_at_anew() -> None:
    served = Served()
    messages = loop(10)
    assert list(examine(facts_of(body(*messages), served))) == []
    assert facts_of(body(*messages), served).start > 10
    assert facts_of(body(*messages, model="claude-haiku-4-5"), served).start == 0
    assert facts_of(body(*messages, tools=[]), served).start == 0


def test_what_was_refused_is_not_taken_for_accepted() -> None:
    served = Served()
    broken = [HI, model(use("a")), user("x"), model("b"), HI, model("c"), HI]
    for _ in range(2):
        assert findings(body(*broken), served)[0].rule == "call_without_result"


def test_an_id_is_still_taken_after_its_message_was_accepted() -> None:
    served = Served()
    messages = loop(10)
    assert not findings(body(*messages), served)
    again = [*messages, model(use("toolu_0")), user([result("toolu_0")])]
    assert findings(body(*again), served)[0].message == "messages.21.content.0: `tool_use` ids must be unique"
    replaced = [*messages[:-2], model(use("toolu_x")), user([result("toolu_x")])]
    for n in range(3):
        assert not findings(body(*replaced), served)
        replaced += [model(use(f"toolu_y{n}")), user([result(f"toolu_y{n}")])]
    assert not findings(body(*replaced, model(use("toolu_9")), user([result("toolu_9")])), served)


def test_a_server_call_that_waits_is_not_forgotten_however_long_it_waits() -> None:
    served = Served()
    calls = [model(search("s"), use("x")), user([result("x")])]
    messages = [HI, *calls, *loop(9)[1:]]
    for end in range(3, len(messages) + 1, 2):
        assert not findings(body(*messages[:end]), served)
    assert findings(body(*messages, HI), served)[0].rule == "server_call_without_result"
    assert not findings(body(*messages, model(found("s"), "Found."), HI), served)


def test_helpers_with_conversations_of_their_own_do_not_push_out_the_loops() -> None:
    served = Served()
    messages = loop(10)
    assert not findings(body(*messages), served)
    for n in range(3):
        assert not findings(body(user(f"Title {n}?")), served)
    assert facts_of(body(*messages), served).start > 10


def test_nothing_is_remembered_before_anything_was_accepted() -> None:
    accepted, start = Memory().recall([HI], "key")
    assert (accepted.messages, start) == ([], 0)


IDS = st.sampled_from(["a", "b", "c", "d"])
ODD: list[dict[str, Any]] = [
    user([t(" ")]), user([t("")]), user(""), user([result("a")]), model(use("a"), use("b")),
    model(search("s")),
    model(found("s")), model(), system("x"), user([t("x"), result("b")]), user([use("a")]), model("b "),
]  # fmt: skip
STEPS: st.SearchStrategy[list[dict[str, Any]]] = st.one_of(
    st.just([model("b"), HI]),
    IDS.map(lambda id_: [model(use(id_)), user([result(id_)])]),
    IDS.map(
        lambda id_: [model("c", use(id_), use(id_ * 2)), user([result(id_ * 2), result(id_)]), user("d")]
    ),
    st.sampled_from(
        [[HI], [system("x")], [model(search("s"), found("s")), HI], [model(search("r"))], [model(found("r"))]]
    ),
)
HISTORIES = st.lists(STEPS, min_size=1, max_size=4).map(
    lambda steps: [HI, *(m for step in steps for m in step)]
)
EDITS = st.tuples(st.integers(0, 8), st.sampled_from([*ODD, HI, model("b")]), st.booleans())


@settings(max_examples=150, deadline=None)
@given(HISTORIES, st.lists(st.one_of(EDITS, HISTORIES), max_size=4))
def test_remembering_finds_what_looking_at_everything_finds(
    history: list[dict[str, Any]], changes: list[Any]
) -> None:
    served = Served()
    for change in [[], *changes]:
        if isinstance(change, list):
            history = [*history, *change[1:]]
        else:
            place, message, inserted = change
            history = [*history[:place], message, *history[place + (not inserted) :]]
        asked = body(*history, model="claude-opus-5", system="", max_tokens=9)
        fresh = [finding for finding in findings(asked) if finding.verified]
        assert [finding for finding in findings(asked, served) if finding.verified] == fresh
        if fresh:
            history = [HI]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from([
    "type", "role", "content", "id", "name", "input", "tool_use_id", "text", "signature", "thinking",
    "caller", "tool", "source", "data", "tool_references", "cache_control", "tool_choice", "effort",
    "block_binding", "prefix_mismatch_behavior", "input_schema", "allowed_callers", "clear_at", "definition",
    "output_config",
])  # fmt: skip
KINDS = st.sampled_from([
    "text", "tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "compaction",
    "enabled", "tool_addition", "tool_search_tool_result", "web_search_tool_result", "image", "user",
    "assistant", "system",
])  # fmt: skip
ANYTHING = st.recursive(
    JSON | KINDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=5),
    max_leaves=25,
)
BODY_FIELDS = [
    "messages",
    "tools",
    "system",
    "thinking",
    "tool_choice",
    "output_config",
    "max_tokens",
    "container",
]


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(BODY_FIELDS), ANYTHING), st.lists(ANYTHING, max_size=3))
def test_no_request_is_too_strange_for_the_rules(fields: dict[str, Any], messages: list[Any]) -> None:
    served = Served()
    for asked in (
        body() | fields,
        body() | fields | {"messages": messages},
        body() | {"messages": [HI, *messages]},
    ):
        for name in ("claude-opus-4-6", "claude-opus-5-5"):
            for _ in range(2):
                assert all(found.message for found in findings(asked | {"model": name}, served, **BETAS))
