"""Turns whose history is looked at, in a few words."""

from __future__ import annotations

import copy
from typing import Any

from tests.checks.histories import Json, Story, assistant, call, result, text, thinking, user

HI = user("Hi")
CALLING = [thinking("Hm.", "sig-1"), text("Let me look."), call("toolu_1", value={"q": "x"})]


def tool_turn(
    sent_back: Any = None, *, prompt: Any = None, results: Any = None, story: Story | None = None
) -> Story:
    """A tool turn; `sent_back` is what the second request makes of the first reply."""
    story = Story()
    story.turn()
    story.ask([HI], model="m", system="s")
    story.reply(CALLING, "tool_use")
    story.tool(value={"q": "x"})
    content = copy.deepcopy(CALLING) if sent_back is None else sent_back
    back = [] if content == [] else [assistant(content)]
    answers = user([result("toolu_1")]) if results is None else results
    story.ask([prompt or HI, *back, answers], model="m", system="s")
    return story.reply([text("Found it.")])


def third_request(messages: list[Json]) -> Story:
    """A tool turn with a second call, so that the first reply goes back twice."""
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply(CALLING, "tool_use")
    story.ask([HI, assistant(CALLING), user([result("toolu_1")])])
    story.reply([call("toolu_2")], "tool_use")
    story.ask(messages)
    return story.reply([text("Found it.")]).end(shown=["Found it."])


def next_turn(second: list[Json], first: list[Json] | None = None, stop: str = "end_turn") -> Story:
    """Two turns: `first` is the reply of the one, `second` the request of the other."""
    story = Story(turns=[{"prompt": "Hi", "script": []}, {"prompt": "More", "script": []}])
    story.turn()
    story.ask([HI])
    story.reply(first or [text("One."), text("Two.")], stop)
    story.end("completed" if stop == "end_turn" else "failed")
    story.turn("More")
    story.ask(second)
    return story.reply([text("Right.")]).end(shown=["Right."])
