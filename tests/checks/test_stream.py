"""STREAM on histories written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from harness.history import Answered, Broken, Delivered
from tests.checks.histories import Story, assistant, call, result, text, thinking, user

HI = user("Hi")
PAUSED = {"content": [], "breaks": [{"at": "event 3", "by": "stall", "seconds": 0.1, "pings": 0.05}]}


class Streamed(Story):
    """A story whose replies are streamed."""

    def __init__(self, reply: dict[str, Any] | None = None) -> None:
        super().__init__(turns=[{"prompt": "Hi", "script": [{"reply": reply or {}}], "expect": {}}])

    def streams(self, content: list[Any], stop_reason: str = "end_turn", *, left: bool = False) -> Streamed:
        body = {"role": "assistant", "content": content, "stop_reason": stop_reason}
        self._add(Answered(request=self._request, kind="reply", body=body, stream=True, step=0))
        number = self._request
        self._add(Broken(request=number, by="client") if left else Delivered(request=number))
        return self


def asked(reply: dict[str, Any] | None = None) -> Streamed:
    story = Streamed(reply)
    story.turn()
    story.ask([HI])
    return story


def looked(sent: list[Any], back: list[Any], ran: Any) -> Streamed:
    story = asked().streams(sent, "tool_use")
    story.tool("look", ran)
    story.ask([HI, assistant(back), user([result("toolu_1")])])
    story.reply([text("Done.")])
    story.end(shown=["Done."])
    return story


CALL = call("toolu_1", value={"a": "b"})


def test_what_adds_up_holds() -> None:
    assert looked([CALL], [CALL], {"a": "b"}).kinds("STREAM-1") == ["held"]


@pytest.mark.parametrize(
    ("sent", "back"),
    [
        (text("Hello there."), text("Hello the")),
        (thinking("Hm, let me see."), thinking("Hm, let me see.", "")),
        (call("toolu_1", value={"a": "b"}), call("toolu_1", value={})),
    ],
)
def test_what_went_wrong_on_the_way_back_is_found(sent: dict, back: dict) -> None:
    content = [sent] if sent["type"] == "tool_use" else [sent, CALL]
    changed = [back] if sent["type"] == "tool_use" else [back, CALL]
    [finding] = looked(content, changed, {"a": "b"}).check("STREAM-1")
    assert (finding.kind, finding.request) == ("broken", 2)


def test_an_input_that_went_wrong_is_found() -> None:
    [finding] = looked([CALL], [CALL], {}).check("STREAM-1")
    assert (finding.kind, finding.evidence) == ("broken", "hook")


def test_a_character_that_was_cut_is_found() -> None:
    assert asked().streams([text("Hej 👋")]).end(shown=["Hej 👋"]).kinds("STREAM-1") == ["held"]
    [finding] = asked().streams([text("Hej 👋")]).end(shown=["Hej \ufffd\ufffd"]).check("STREAM-1")
    assert (finding.kind, finding.evidence) == ("broken", "outcome")


def test_replies_that_are_not_streamed_are_not_judged() -> None:
    story = asked()
    story.reply([text("Hello.")])
    assert story.end(shown=["Hello."]).kinds("STREAM-1") == []


@pytest.mark.parametrize("clause", ["STREAM-2", "FAULT-8"])
def test_a_stream_with_pauses_that_is_read_to_its_end_holds(clause: str) -> None:
    assert asked(PAUSED).streams([text("Hello.")]).end(shown=["Hello."]).kinds(clause) == ["held"]


@pytest.mark.parametrize("clause", ["STREAM-2", "FAULT-8"])
def test_a_stream_with_pauses_that_is_given_up_is_found(clause: str) -> None:
    story = asked(PAUSED).streams([text("Hello.")], left=True)
    story.ask([HI])
    story.streams([text("Hello.")])
    assert "broken" in story.end(shown=["Hello."]).kinds(clause)
    assert "broken" in asked(PAUSED).streams([text("Hello.")], left=True).end("failed").kinds(clause)


def test_a_connection_that_is_closed_behind_the_answer_is_no_giving_up() -> None:
    story = asked(PAUSED).streams([text("Hello.")], left=True).end(shown=["Hello."])
    assert story.kinds("FAULT-8") == []


def test_a_stream_that_nothing_disturbed_is_not_judged() -> None:
    assert asked().streams([text("Hello.")]).end(shown=["Hello."]).kinds("STREAM-2") == []


def test_what_is_another_block_was_not_misread() -> None:
    def kinds(sent: dict, back: dict) -> list[str]:
        return looked([sent, CALL], [back, CALL], {"a": "b"}).kinds("STREAM-1")

    assert kinds(text("Hello there."), thinking("Hello there.")) == ["held"]
    assert kinds({"type": "card", "title": "a"}, {"type": "card", "title": "b"}) == ["held"]
    assert kinds(call("toolu_2", value={"a": 1}), call("toolu_3", value={"a": 1})) == ["held"]
    assert kinds(text("Hello there.", citations=[]), text("Hello there.")) == ["held"]
    assert kinds(text("Hi.", citations=[{"a": 1}]), text("Hi.", citations=[{"a": 2}])) == ["broken"]


def test_a_run_of_a_tool_nobody_called_is_judged_elsewhere() -> None:
    story = asked().streams([CALL], "tool_use")
    story.tool("other", {}).tool("look", {"a": "b"})
    story.ask([HI, assistant([CALL]), user([result("toolu_1")])])

    assert story.reply([text("Done.")]).end(shown=["Done."]).kinds("STREAM-1") == ["held"]


def test_a_run_under_another_stop_reason_is_judged_elsewhere() -> None:
    story = asked().streams([CALL], "end_turn")
    story.tool("look", {})

    assert story.end(shown=["Done."]).kinds("STREAM-1") == ["held"]


def test_a_disturbed_stream_may_be_followed_by_another_conversation_or_a_failing_tool() -> None:
    def failed(reason: str = "end_turn", *, tool: bool = False, **limits: float) -> list[str]:
        story = Streamed(PAUSED)
        story.turn(**limits)
        story.ask([HI])
        story.streams([CALL], reason)
        if tool:
            story.tool(error="busy")
        return story.end("failed").kinds("STREAM-2")

    assert failed() == ["broken"]
    assert failed("tool_use") == ["broken"]
    assert failed("max_tokens") == ["held"]
    assert failed(tool=True) == ["held"]
    assert failed(max_iterations=1) == ["held"]
    assert failed(wall_clock=1.0) == ["held"]


@pytest.mark.parametrize("reply", [{"content": [], "gap": 0.1}, {"content": [], "pings": 0.1},
                                   {"content": [], "segment": 3}])  # fmt: skip
def test_all_that_disturbs_a_stream_counts(reply: dict) -> None:
    assert asked(reply).streams([text("Hello.")]).end(shown=["Hello."]).kinds("STREAM-2") == ["held"]


def test_what_no_delta_carries_was_not_misread() -> None:
    def kinds(sent: dict, back: dict) -> list[str]:
        return looked([sent, CALL], [back, CALL], {"a": "b"}).kinds("STREAM-1")

    assert kinds(text("Hi.", extra=1), text("Hi.", extra=2)) == ["held"]
    assert kinds(text("Hi.", citations=[{"a": 1}]), text("Hi.")) == ["held"]
    assert kinds(call("toolu_2", caller="a"), call("toolu_2", caller="b")) == ["held"]


def test_a_stream_that_no_script_tells_of_was_not_disturbed() -> None:
    story = Streamed()
    story.events[0].scenario["turns"] = []  # type: ignore[union-attr]
    story.turn()
    story.ask([HI])

    assert story.streams([text("Hello.")]).end(shown=["Hello."]).kinds("STREAM-2") == []
