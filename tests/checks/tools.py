"""Turns that call client tools, in a few words."""

from __future__ import annotations

from harness.checks.base import Finding
from tests.checks.histories import Story, assistant, call, result, text, user

HI = user("Hi")
TOOLS = [{"name": "look", "input_schema": {}}, {"name": "other", "input_schema": {}}]
ONE, TWO = call("toolu_1", value={"n": 1}), call("toolu_2", "other", {"n": 2})


def calling(*calls: dict, story: Story | None = None, **limits: float) -> Story:
    story = story or Story()
    story.turn(tools=("look", "other"), **limits)
    story.ask([HI], tools=TOOLS)
    return story.reply(list(calls), "tool_use")


def answered(*messages: dict, runs: bool = True, story: Story | None = None) -> Story:
    """Two calls, run, answered by `messages`, and a last reply."""
    story = calling(ONE, TWO, story=story)
    if runs:
        story.tool("look", {"n": 1}, result="first result").tool("other", {"n": 2}, result="second result")
    story.ask([HI, assistant([ONE, TWO]), *messages], tools=TOOLS)
    return story.reply([text("Done.")]).end()


FIRST, SECOND = result("toolu_1", "first result"), result("toolu_2", "second result")
RIGHT = user([FIRST, SECOND])


def levels(findings: list[Finding]) -> set[tuple[str, str | None]]:
    return {(one.kind, one.level) for one in findings}
