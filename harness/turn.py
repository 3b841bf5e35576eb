"""What a loop gets and gives back: `Turn`, `Tool`, the hooks, `Outcome`, and what its owner may declare.

A loop is called as `loop(turn)` and returns an `Outcome`, a string, or None; it may be a coroutine function.
Nothing here signals a loop by raising into it (law 4): only a scripted tool or hook fault raises.
"""

from __future__ import annotations

import asyncio
import builtins
import threading
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec

from .history import (
    AnyEvent,
    Cancelled,
    CancelPolled,
    Claimed,
    Ended,
    Noted,
    Published,
    Reported,
    ToolEnded,
    ToolStarted,
    UsageRecorded,
)
from .lent import Lent
from .plain import plain
from .store import Sink, Store

Status: TypeAlias = Literal["completed", "refused", "truncated", "capped", "cancelled", "failed"]
STATUSES: tuple[str, ...] = ("completed", "refused", "truncated", "capped", "cancelled", "failed")

EXPOSABLE: dict[str, str] = {
    "status": "return Outcome(status=…)",
    "shown": "return the text, or Outcome(shown=[…])",
    "history": "return Outcome(history=messages)",
    "usage": "call turn.record_usage(…) once, or return Outcome(usage=…)",
    "publish": "call turn.publish(state, history, done=…)",
    "done": "call turn.publish(state, history, done=True) as the last publish",
    "report": "call turn.report(problem)",
    "checkpoint": "keep a checkpoint in turn.store[turn.checkpoint_key]",
    "tools": "offer turn.tools to the model and run them",
    "iterations": "stop after turn.limits.max_iterations requests",
    "wall_clock": "stop after turn.limits.wall_clock seconds",
    "pauses": "stop after turn.limits.pauses resumed pauses in a row",
    "arguments": "be a Python callable, which is handed the caller's own lists and not their text",
    "claim": "begin with turn.claim(), and leave the turn alone where that is False",
    "cancel": "ask turn.cancelled() before each request and tool",
    "asyncio": "clean up in `finally`, where the loop's task is cancelled as well",
    "interrupt": "clean up in `finally`, on KeyboardInterrupt as well",
    "signal": "clean up where the process is told to end by a signal as well",
}
"""What a loop can expose, and how to. The probe finds out which of these it does."""


class ToolError(Exception):
    """A tool failed. `content` (a string, or content blocks) is what the model should be told."""

    def __init__(self, content: str | list[dict[str, Any]]) -> None:
        super().__init__(content if isinstance(content, str) else "the tool failed")
        self.content = content


class HookError(RuntimeError):
    """A hook failed, because the scenario has it fail."""


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the turn may use up. None: not limited by the scenario."""

    max_iterations: int | None = None
    """Model requests, resumed pauses included, retries not."""
    wall_clock: float | None = None
    """Seconds from the call of the loop."""
    pauses: int | None = None
    """Resumes in a row."""


ToolException: TypeAlias = Literal["ToolError", "KeyError", "OSError", "RuntimeError", "TimeoutError"]


class Behaviour(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a scripted tool does. Of `result`, `raises` and `hangs` at most one is written."""

    when: dict[str, Any] | None = None
    """Only for a call with exactly this input."""
    result: str | list[dict[str, Any]] | None = None
    """Text or content blocks."""
    raises: str | None = None
    """The tool raises with this text."""
    exception: ToolException = "ToolError"
    """What it raises; all but `ToolError` are Python's own."""
    delay: float = 0.0
    """Seconds before it returns or raises."""
    hangs: bool = False
    """The tool never returns by itself."""


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A client tool of a scenario. The first answer whose `when` fits the input is given."""

    name: str
    description: str
    input_schema: dict[str, Any]
    answers: list[Behaviour]
    own: dict[str, dict[str, Any] | None] = {}
    """Which of its own tools a loop may be called with in this one's place, and with which input."""


class TurnSpec(msgspec.Struct, frozen=True, kw_only=True):
    """All a loop is given for one turn, in a form that travels to another process."""

    base_url: str
    api_key: str
    model: str
    max_tokens: int
    system: str
    prompt: str
    messages: list[dict[str, Any]]
    conversation: str
    tools: list[ToolSpec]
    stream: bool
    limits: Limits
    checkpoint_key: str
    cancel_key: str
    cancel_on_tool: str | None = None
    """The turn is cancelled when this tool starts."""
    cancel_after_tool: str | None = None
    """The turn is cancelled when this tool has returned."""
    cancel_via: str = "flag"
    """How these two cancel it."""
    hooks: dict[str, str] = {}
    """Hooks that fail, and what they raise."""
    deadline: float = 10.0
    """Seconds after which the harness stops the loop. The loop is not told."""
    store: dict[str, Any] | None = None
    """What is in the store when the turn begins, where another process wrote it."""


INTERRUPTS = ("asyncio", "interrupt", "signal")
"""Ways to cancel a turn that need no hook: they reach the loop from outside, as an exception."""

HANGUP = "hangup"
"""How the user of a service cancels: there is no flag, and nothing to clear away."""


class Tool:
    """One client tool of the turn: run it with the input the model gave."""

    def __init__(self, spec: ToolSpec, turn: Turn) -> None:
        self.name = spec.name
        self.description = spec.description
        self.input_schema: dict[str, Any] = plain(spec.input_schema)
        self._answers = spec.answers
        self._turn = turn
        turn.lent.remember(f"the input_schema of {self.name}", self.input_schema)

    def run(self, input: Any) -> str | list[dict[str, Any]]:  # noqa: A002 - the API's word
        """Run the tool. Raises where the scenario says so, mostly `ToolError`."""
        call, answer = self._start(input)
        try:
            self._turn._reached(f"tool {self.name}")
            threading.Event().wait(None if answer.hangs else answer.delay)
        except BaseException:
            self._turn._record(ToolEnded(call=call, abandoned=True))
            raise
        return self._finish(call, answer)

    async def arun(self, input: Any) -> str | list[dict[str, Any]]:  # noqa: A002 - the API's word
        """Run the tool without blocking the event loop. Raises where the scenario says so."""
        call, answer = self._start(input)
        try:
            self._turn._reached(f"tool {self.name}")
            if answer.hangs:
                await asyncio.Event().wait()
            await asyncio.sleep(answer.delay)
        except BaseException:
            self._turn._record(ToolEnded(call=call, abandoned=True))
            raise
        return self._finish(call, answer)

    def _start(self, input: Any) -> tuple[int, Behaviour]:  # noqa: A002 - the API's word
        given = plain(input)
        call = self._turn._next_call()
        self._turn._record(ToolStarted(call=call, name=self.name, input=given))
        for answer in self._answers:
            if answer.when is None or answer.when == given:
                return call, answer
        return call, Behaviour(raises=f"no scripted answer of {self.name} fits this input")

    def _finish(self, call: int, answer: Behaviour) -> str | list[dict[str, Any]]:
        if answer.raises is not None:
            self._turn._record(ToolEnded(call=call, error=answer.raises))
            self._turn._reached(f"after tool {self.name}")
            own = getattr(builtins, answer.exception, ToolError)
            raise own(answer.raises)
        result: str | list[dict[str, Any]] = plain(answer.result) if answer.result is not None else "ok"
        self._turn.lent.remember(f"what {self.name} returned", result)
        self._turn._record(ToolEnded(call=call, result=result))
        self._turn._reached(f"after tool {self.name}")
        return result


class Turn:
    """One user message for the loop to handle, with all it needs and the hooks it may use."""

    def __init__(
        self,
        spec: TurnSpec,
        sink: Sink,
        store: Store,
        carry: Any = None,
        interrupt: Callable[[str], None] | None = None,
    ) -> None:
        """`interrupt` reaches the loop from outside, in one of the ways of `INTERRUPTS`."""
        self.base_url = spec.base_url
        self.api_key = spec.api_key
        self.model = spec.model
        self.max_tokens = spec.max_tokens
        self.system = spec.system
        self.prompt = spec.prompt
        self.messages: list[dict[str, Any]] = plain(spec.messages)
        self.lent = Lent(self.messages)
        self.conversation = spec.conversation
        self.carry = carry
        self.stream = spec.stream
        self.limits = spec.limits
        self._store = store
        self.checkpoint_key = spec.checkpoint_key
        self.cancel_key = spec.cancel_key
        self.tools = [Tool(tool, self) for tool in spec.tools]
        self._sink = sink
        self._cancels = {
            f"tool {spec.cancel_on_tool}": spec.cancel_via,
            f"after tool {spec.cancel_after_tool}": spec.cancel_via,
        }
        self._interrupt = interrupt
        self._hooks = spec.hooks
        self._calls = 0
        self._polled: bool | None = None
        self._lock = threading.Lock()

    @property
    def store(self) -> Store:
        """The mapping that lives as long as the conversation: checkpoints and the cancel flag."""
        self._store.reached = True
        return self._store

    def cancelled(self) -> bool:
        """Whether the turn is cancelled: `cancel_key in store`."""
        answer = self.cancel_key in self._store
        if answer is not self._polled:
            self._polled = answer
            self._record(CancelPolled(answer=answer))
        return answer

    def claim(self) -> bool:
        """Take the turn for this worker; False where another has it.

        It is free again when the turn ends, and when the process dies that has taken it.
        """
        return self._sink(Claimed()) is not False

    def publish(self, state: Any, history: Any = None, done: bool = False) -> None:
        """Show the user `{messages: [{role, content, is_error}], activity, stopped, has_error}`."""
        self._record(Published(state=_mapping(state), history=plain(history), done=bool(done)))
        self._fail("publish")

    def report(self, problem: str | BaseException) -> None:
        """Tell the owner of the loop about a problem."""
        kind = type(problem).__name__ if isinstance(problem, BaseException) else None
        self._record(Reported(problem=str(problem), exception=kind))
        self._fail("report")

    def record_usage(self, /, iterations: int | None = None, **tokens: int | None) -> None:
        """Record what the turn used, in total, under the API's names. To be called once."""
        counted = {name: value for name, value in tokens.items() if isinstance(value, int)}
        number = iterations if isinstance(iterations, int) else None
        self._record(UsageRecorded(iterations=number, tokens=counted))
        self._fail("usage")

    def _fail(self, hook: str) -> None:
        """Raise what the scenario has this hook raise. That it was called is recorded already."""
        if hook in self._hooks:
            self._record(Noted(kind="hook", detail=hook))
            raise HookError(self._hooks[hook])

    def _record(self, event: AnyEvent) -> None:
        self._sink(event)

    def _next_call(self) -> int:
        with self._lock:
            self._calls += 1
            return self._calls

    def _reached(self, point: str) -> None:
        via = self._cancels.get(point)
        if via in INTERRUPTS and self._interrupt:
            # Recorded first: what comes next may be the exception.
            self._record(Cancelled(point=point, via=via))
            self._interrupt(via)
        elif via:
            self._store.put(self.cancel_key, True)
            self._record(Cancelled(point=point, via=via))


def _mapping(state: Any) -> dict[str, Any]:
    copied = plain(state)
    return copied if isinstance(copied, dict) else {"messages": copied}


class Outcome(msgspec.Struct, kw_only=True):
    """What the loop hands to its caller. Every field is optional; None means not told."""

    status: Status | None = None
    shown: list[Any] | None = None
    """What this turn showed, oldest first: strings, or `{content, is_error, role}`."""
    history: Any = None
    """The conversation as the loop will keep it: role/content messages, or anything opaque."""
    usage: Any = None
    """Totals of the turn under the API's names."""
    detail: str | None = None
    """Whatever explains the status: a raw stop reason, an error text."""
    carry: Any = None
    """Opaque; handed back as `turn.carry` in the next turn of the conversation."""


class Declaration(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the loop's owner states: attributes of the callable, `[tool.loop-harness]`, or options."""

    policies: dict[str, str] = {}
    """Documented choices: `on_max_tokens: stop | continue`, `on_refusal: stop | fallback`, …"""
    caps: dict[str, float] = {}
    """`iterations`, `wall_clock`, `pauses` that the harness cannot set."""
    keys: dict[str, str] = {}
    """The loop's own cache keys: `checkpoint`, `cancel`, as glob patterns."""
    raises: dict[str, str] = {}
    """Exception class name to the status it stands for."""
    tools: str = "turn"
    """Whose tools the loop offers: `turn`, `own` or `none`."""
    own_tool: str = ""
    """Of its own tools the one that stands for the scenarios': `NAME`, or `NAME={"its": "input"}`."""
    exposes: list[str] = []
    """Names of `EXPOSABLE` the loop is to be judged by although the probe may not find them."""


POLICIES: dict[str, tuple[str, ...]] = {
    "on_max_tokens": ("stop", "continue"),
    "on_refusal": ("stop", "fallback"),
    "on_tool_error": ("answer", "raise"),
    "cancel": ("between_requests", "at_once"),
    "on_crash": ("repeat", "answer"),
    "on_broken_stream": ("retry", "continue"),
    "on_fault": ("stop", "retry"),
}
"""Every policy that can be declared, the default first."""


def ended(returned: Any) -> Ended:
    """The event for what a loop returned. Raises `TypeError` where it is none of the three forms."""
    if returned is None:
        return Ended(returned="none")
    if isinstance(returned, str):
        return Ended(returned="text", shown=[returned])
    if isinstance(returned, Outcome) or type(returned).__name__ == "Outcome":
        shown = getattr(returned, "shown", None)
        usage = plain(returned.usage)
        return Ended(
            status=returned.status,
            shown=None if shown is None else list(plain(shown)),
            history=plain(returned.history),
            usage=usage if isinstance(usage, dict) else None,
            detail=None if returned.detail is None else str(returned.detail),
            carry=returned.carry is not None,
        )
    raise TypeError(f"a loop returns an Outcome, a string or None, not {type(returned).__name__}")
