"""Histories written by hand: `Story` tells one, a line for each thing that happens.

story = Story()
story.turn("Hi")
story.ask([user("Hi")])
story.reply([text("Looking.")], "pause_turn")
story.ask([user("Hi"), assistant([text("Looking.")])])
story.reply([text("Done.")])
story.end(shown=["Done."])
run = story.run()
"""

from __future__ import annotations

import copy
from typing import Any

from harness.arrange import arrange
from harness.checks import registered
from harness.checks.base import Finding
from harness.evidence import Run
from harness.history import (
    Answered,
    AnyEvent,
    Began,
    Broken,
    Cancelled,
    Census,
    Crashed,
    Delivered,
    Ended,
    Event,
    Finished,
    Lost,
    Noted,
    Overran,
    Published,
    Raised,
    Reported,
    RequestSeen,
    StoreDeleted,
    StoreSet,
    ToolEnded,
    ToolStarted,
    TurnBegan,
    UsageRecorded,
)

ALL = ("status", "shown", "history", "usage", "publish", "report", "checkpoint", "tools", "iterations",
       "wall_clock", "pauses", "cancel", "arguments")  # fmt: skip
Json = dict[str, Any]


def text(words: str, **more: Any) -> Json:
    return {"type": "text", "text": words, **more}


def thinking(words: str = "Hm.", signature: str = "sig") -> Json:
    return {"type": "thinking", "thinking": words, "signature": signature}


def call(identifier: str, name: str = "look", value: Any = None, **more: Any) -> Json:
    return {
        "type": "tool_use",
        "id": identifier,
        "name": name,
        "input": {} if value is None else value,
        **more,
    }


def server_call(identifier: str, name: str = "web_search", value: Any = None) -> Json:
    return {"type": "server_tool_use", "id": identifier, "name": name, "input": value or {}}


def result(identifier: str, content: Any = "ok", **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": identifier, "content": content, **more}


def user(content: Any) -> Json:
    return {"role": "user", "content": content}


def assistant(content: Any) -> Json:
    return {"role": "assistant", "content": content}


class Story:
    """The events of one run, made as they are told. Times advance by 10 ms an event, and by `wait`."""

    def __init__(
        self,
        *,
        exposes: tuple[str, ...] = ALL,
        clauses: tuple[str, ...] = (),
        expect: Json | None = None,
        turns: list[Json] | None = None,
        watched: bool = False,
        **declaration: Any,
    ) -> None:
        script = turns or [{"prompt": "Hi", "script": [], "expect": expect or {}}]
        scenario = {
            "id": "by/hand",
            "title": "By hand.",
            "clauses": list(clauses),
            "why": "-",
            "task": {},
            "turns": script,
        }
        self.events: list[AnyEvent] = []
        self._now = 0.0
        self._turn = -1
        self._request = 0
        self._call = 0
        self._bodies: list[Any] = []
        self._add(
            Began(
                scenario_id="by/hand",
                variant="json",
                scenario=scenario,
                declaration=declaration,
                exposes=list(exposes),
                watched=watched,
            )
        )

    def wait(self, seconds: float) -> Story:
        self._now += seconds
        return self

    def turn(
        self,
        prompt: str = "Hi",
        *,
        tools: tuple[str, ...] = ("look",),
        handed: list[Json] | None = None,
        **limits: float,
    ) -> Story:
        """A turn begins; `handed` are the messages given to the loop, before the prompt."""
        self._turn += 1
        messages = [*(handed or []), user(prompt)]
        return self._add(TurnBegan(prompt=prompt, messages=messages, tools=list(tools), limits=limits))

    def crash(self, after: str = "answer 1", *, keys: tuple[str, ...] = ("chat:checkpoint:",)) -> Story:
        """The process is killed; `keys` are in its store."""
        return self._add(Crashed(after=after, store_keys=list(keys)))

    def again(self, prompt: str = "Hi", *, tools: tuple[str, ...] = ("look",)) -> Story:
        """The turn begins again, in a new process."""
        return self._add(TurnBegan(prompt=prompt, tools=list(tools), rerun=True))

    def ask(
        self,
        messages: list[Json],
        *,
        retry: int = 0,
        lane: str = "",
        headers: dict[str, str] | None = None,
        transcript: list[Json] | None = None,
        **body: Any,
    ) -> int:
        """A request arrives; the number it gets."""
        self._request += 1
        whole = copy.deepcopy({"messages": messages, **body})
        same = next((n for n in range(len(self._bodies), 0, -1) if self._bodies[n - 1] == whole), None)
        self._bodies.append(whole)
        self._add(
            RequestSeen(
                request=self._request,
                body=whole,
                retry=retry,
                lane=lane,
                headers=headers or {},
                same_as=same,
                transcript=transcript,
            )
        )
        return self._request

    def reply(
        self,
        content: list[Json],
        stop_reason: str = "end_turn",
        *,
        whole: bool = True,
        by: str = "provider",
        **fields: Any,
    ) -> Story:
        """The provider answers the last request with a message; not `whole`: it breaks off."""
        body = {"role": "assistant", "content": copy.deepcopy(content), "stop_reason": stop_reason, **fields}
        self._add(Answered(request=self._request, kind="reply", body=body))
        return self._add(Delivered(request=self._request) if whole else Broken(request=self._request, by=by))

    def answer(self, kind: str, status: int = 400, **fields: Any) -> Story:
        """The provider answers the last request with anything but a message."""
        self._add(Answered(request=self._request, kind=kind, status=status, **fields))
        return self._add(Delivered(request=self._request))

    def answered(self, content: list[Json], stop_reason: str = "end_turn", **fields: Any) -> Story:
        """The provider begins to stream a message."""
        body = {"role": "assistant", "content": copy.deepcopy(content), "stop_reason": stop_reason, **fields}
        return self._add(Answered(request=self._request, kind="reply", body=body, stream=True))

    def delivered(self) -> Story:
        """The stream has come to its end."""
        return self._add(Delivered(request=self._request))

    def breaks(self, by: str = "client", *, events: int = 0) -> Story:
        """The stream is left, or broken off, after so many events."""
        return self._add(Broken(request=self._request, by=by, events=events))

    def tool(
        self,
        name: str = "look",
        value: Any = None,
        *,
        result: Any = "ok",
        error: str | None = None,
        ends: bool = True,
    ) -> Story:
        """A client tool runs."""
        self._call += 1
        self._add(ToolStarted(call=self._call, name=name, input={} if value is None else value))
        if ends:
            self._add(ToolEnded(call=self._call, result=None if error else result, error=error))
        return self

    def ends_tool(self, call: int | None = None, *, result: Any = "ok") -> Story:
        """A client tool that was left running returns: the last one, or the one of that number."""
        return self._add(ToolEnded(call=call or self._call, result=result))

    def publish(self, *messages: Any, done: bool = False, history: Any = None, **state: Any) -> Story:
        """The loop publishes a state; `activity` and the like are given by name."""
        state = {"messages": list(messages), "activity": None, **state}
        return self._add(Published(state=state, done=done, history=history))

    def report(self, problem: str, exception: str | None = None) -> Story:
        return self._add(Reported(problem=problem, exception=exception))

    def usage(self, iterations: int | None = None, **tokens: int) -> Story:
        return self._add(UsageRecorded(iterations=iterations, tokens=tokens))

    def store(self, key: str, value: Any = True, *, by: str = "loop") -> Story:
        return self._add(StoreSet(key=key, value=value, by=by))

    def forget(self, key: str, *, by: str = "loop") -> Story:
        return self._add(StoreDeleted(key=key, by=by))

    def cancel(self, point: str = "request 1", via: str = "flag") -> Story:
        return self._add(Cancelled(point=point, via=via))

    def noted(self, kind: str, detail: str = "", request: int | None = None) -> Story:
        return self._add(Noted(kind=kind, detail=detail, request=request))

    def end(self, status: str | None = "completed", **fields: Any) -> Story:
        """The loop returns an outcome."""
        return self._add(Ended(status=status, **fields))

    def returns(self, shown: str | None) -> Story:
        """The loop returns a bare string, or nothing."""
        if shown is None:
            return self._add(Ended(returned="none"))
        return self._add(Ended(returned="text", shown=[shown]))

    def raises(self, kind: str = "RuntimeError", message: str = "boom", bases: tuple[str, ...] = ()) -> Story:
        raised = Raised(type=kind, bases=[kind, *bases], message=message)
        return self._add(Ended(returned="raised", raised=raised))

    def counted(self, **alive: Any) -> Story:
        """What is alive is counted."""
        return self._add(Census(when="after", **alive))

    def overran(self, deadline: float = 10.0) -> Story:
        return self._add(Overran(deadline=deadline))

    def lost(self, reason: str = "the process died") -> Story:
        return self._add(Lost(reason=reason))

    def finish(self, lateness: float = 0.0) -> list[AnyEvent]:
        """The whole history, with its last event."""
        return [*self.events, Finished(at=self._now, lateness=lateness)]

    def run(self) -> Run:
        return arrange(self.finish())

    def check(self, clause: str) -> list[Finding]:
        """What the clause's check finds."""
        return list(registered()[clause](self.run()))

    def kinds(self, clause: str) -> list[str]:
        """The kinds of what the clause's check finds, each once, in order."""
        return sorted({finding.kind for finding in self.check(clause)})

    def _add(self, event: Event) -> Story:
        self._now += 0.01
        event.at = round(self._now, 3)
        event.turn = max(self._turn, 0)
        self.events.append(event)  # type: ignore[arg-type]
        return self
