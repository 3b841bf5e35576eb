"""What a check says of a turn, it says wherever in a conversation the turn stands, and of a request likewise.

Most stories of these tests have one turn, of one or two requests. A check that stops looking where a turn or
a request does not concern it, and does not go on to the next, is right about all of them. So what it finds in
a story is looked for once more with each of these turns before it, and behind one more round of its turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

import msgspec

from harness.arrange import arrange
from harness.checks import registered
from harness.checks.base import Finding
from harness.evidence import Run
from harness.history import AnyEvent, Finished, RequestSeen, TurnBegan
from tests.checks.histories import Json, Story, assistant, call, result, text, user

KEY = "chat:checkpoint:"
BETWEEN = 0.05
"""Seconds between the turns."""
ALONE = {
    "CLEAN-7": "turns in a row are compared",
}
"""Clauses that are about more than a turn, and how."""
AT_FIRST = {
    "CAP-1": "rounds are counted",
    "CAP-5": "rounds are counted",
    "EXPECT": "rounds are counted",
    "HIST-11": "it is about the first request of a turn",
    "USAGE-3": "rounds are counted",
}
"""Clauses of which another round changes what they are about, and how."""
ROUND = [
    assistant([text("It is early."), call("toolu_early", "early")]),
    user([result("toolu_early", "Early.")]),
]


def begun() -> Story:
    story = Story()
    story.turn("Earlier?", tools=("early",))
    story.ask([user("Earlier?")], model="early")
    return story


def _called() -> Story:
    calling = assistant([call("toolu_early", "early")])
    story = begun().reply([call("toolu_early", "early")], "tool_use", usage={"input_tokens": 1})
    story.tool("early", result="Early.")
    story.ask([user("Earlier?"), calling, user([result("toolu_early", "Early.")])], model="early")
    story.reply([text("It was early.")]).usage(2, input_tokens=1)
    return story.publish("It was early.", done=True).end(shown=["It was early."])


def _asked_again() -> Story:
    story = begun().reply([text("It was ear")], "max_tokens").store(KEY).crash().again("Earlier?")
    story.ask([user("Earlier?")], model="early")
    return story.reply([text("It was early.")]).end(shown=["It was early."])


EARLIER = {
    "answered": begun().reply([text("It was early.")]).end(shown=["It was early."]),
    "called": _called(),
    "cut": begun().reply([text("It was ear")], "max_tokens").report("cut").end("truncated", shown=[]),
    "refused": begun().reply([text("It was ear")], "refusal").end("refused", shown=[]),
    "empty": begun().reply([]).end(shown=[]),
    "failed": begun().answer("fault", 400).end("failed", shown=[]),
    "cancelled": begun().cancel().reply([text("It was early.")]).end("cancelled", shown=[]),
    "stopped": begun().reply([call("toolu_early", "early")], "tool_use").overran(),
    "silent": Story().turn("Earlier?").end("failed", shown=[]),
    "resumed": begun().reply([text("It was early.")]).store(KEY).crash().again().end(shown=["It was early."]),
    "asked again": _asked_again(),
    "stopped again": begun().reply([text("It was early.")]).store(KEY).crash().again().overran(),
    "killed": begun().reply([text("It was early.")]).store(KEY).crash(),
}
"""Turns that nothing is said of, by what became of them."""


def missed(story: Story, clause: str, findings: list[Finding]) -> Iterator[str]:
    """What a check finds in a story, and does not find when another turn stands before it."""
    faults = [one for one in findings if one.kind == "broken"]
    if not faults or clause in ALONE:
        return
    for name, earlier in EARLIER.items():
        turns, requests = 1, len(earlier._bodies)
        found = list(map(_place, registered()[clause](after(earlier, story))))
        for one in faults:
            number = None if one.request is None else one.request + requests
            moved = msgspec.structs.replace(one, turn=one.turn + turns, request=number)
            if _place(moved) not in found:
                yield f"{clause} misses this behind a turn that was {name}: {one}"


def missed_later(story: Story, clause: str, findings: list[Finding]) -> Iterator[str]:
    """What a check finds in a story, and does not find when its turn has called a tool before."""
    faults = [one for one in findings if one.kind == "broken"]
    if not faults or clause in AT_FIRST:
        return
    events = _later(story)
    if events is None:
        return
    found = list(map(_place, registered()[clause](arrange(events))))
    for one in faults:
        number = None if one.request is None else one.request + 1
        if _place(msgspec.structs.replace(one, request=number)) not in found:
            yield f"{clause} misses this behind a round that called a tool: {one}"


def _later(story: Story) -> list[AnyEvent] | None:
    """The events of a story whose first turn begins with one more round; None where it cannot or may not."""
    start = next((n for n, event in enumerate(story.events) if isinstance(event, RequestSeen)), None)
    if start is None or not isinstance(story.events[start - 1], TurnBegan):
        return None
    first = story.events[start].body["messages"]  # type: ignore[union-attr]
    asked = [event.transcript or event.body["messages"] for event in story.events if _asks(event)]
    if len(first) != 1 or first[0]["role"] != "user" or any(one[:1] != first for one in asked):
        return None
    if "max_iterations" in story.events[start - 1].limits:  # type: ignore[union-attr]
        return None
    parameters = {**story.events[start].body}  # type: ignore[union-attr]
    del parameters["messages"]
    early = Story()
    early.turn()
    early.ask(first, **parameters)
    early.reply(ROUND[0]["content"], "tool_use")
    early.tool("early", result="Early.")
    shift = early._now - story.events[start - 1].at + BETWEEN
    rest = [_behind(_moved(event, shift, 1, 1, turns=0), first[0]) for event in story.events[start:]]
    began = [msgspec.structs.replace(story.events[start - 1], at=early.events[1].at)]
    end = Finished(at=story._now + shift)
    return [*story.events[: start - 1], *began, *early.events[2:], *rest, end]


def _asks(event: AnyEvent) -> TypeGuard[RequestSeen]:
    return isinstance(event, RequestSeen) and not event.lane and event.turn == 0


def _behind(event: AnyEvent, first: Json) -> AnyEvent:
    """The event with the round in each conversation it holds."""
    changes: Json = {}
    for name in ("body", "transcript", "history", "messages"):
        value = getattr(event, name, None)
        if name == "body" and isinstance(value, dict) and isinstance(value.get("messages"), list):
            changes[name] = {**value, "messages": _with_round(value["messages"], first)}
        elif name != "body" and isinstance(value, list):
            changes[name] = _with_round(value, first)
    return msgspec.structs.replace(event, **changes) if changes else event


def _with_round(messages: list[Json], first: Json) -> list[Json]:
    return [*messages[:1], *ROUND, *messages[1:]] if messages[:1] == [first] else messages


def _place(finding: Finding) -> tuple[object, ...]:
    """All but the words, which name requests by their numbers."""
    return finding.kind, finding.level, finding.evidence, finding.turn, finding.request, finding.block


def after(earlier: Story, story: Story) -> Run:
    """The turns of a story, after an earlier one."""
    began, *events = story.events
    scenario: Json = began.scenario  # type: ignore[union-attr]
    scenario = {**scenario, "turns": [{"prompt": "Earlier?", "script": []}, *scenario["turns"]]}
    shift = earlier.events[-1].at + BETWEEN
    moved = [_moved(event, shift, len(earlier._bodies), earlier._call) for event in events]
    return arrange([
        msgspec.structs.replace(began, scenario=scenario),
        *earlier.events[1:],
        *moved,
        Finished(at=story._now + shift),
    ])  # fmt: skip


def _moved(event: AnyEvent, seconds: float, requests: int, calls: int, *, turns: int = 1) -> AnyEvent:
    changes: Json = {"at": event.at + seconds, "turn": event.turn + turns}
    for name, more in (("request", requests), ("same_as", requests), ("call", calls)):
        if isinstance(number := getattr(event, name, None), int):
            changes[name] = number + more
    return msgspec.structs.replace(event, **changes)
