"""Drive the reference turn without any I/O: the effects it yields, answered off a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.history import AnyEvent
from harness.loops.reference import ReferenceTurn
from harness.loops.reference.effects import (
    Ask,
    Effect,
    Failed,
    Finish,
    Message,
    Publish,
    Ran,
    RecordUsage,
    Report,
    RunTools,
    Wait,
)
from harness.store import Store
from harness.turn import Limits, Outcome, ToolSpec, Turn, TurnSpec


class Clock:
    """Time that passes only when told to."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


class Hand:
    """A driver for tests. An answer is a message, a `Failed`, or a callable that returns one or raises."""

    def __init__(
        self,
        answers: list[Any],
        *,
        tools: tuple[ToolSpec, ...] = (),
        messages: list[Message] | None = None,
        limits: Limits | None = None,
        machine: type[ReferenceTurn] = ReferenceTurn,
        on_tool: Callable[[Hand, str], Ran] | None = None,
        store: Store | None = None,
    ) -> None:
        self.answers = answers
        self.on_tool = on_tool or (lambda hand, name: Ran("ok"))
        self.clock = Clock()
        self.effects: list[Effect] = []
        self.hooks: list[AnyEvent] = []
        self.store = Store() if store is None else store
        self.store.attach(self.hooks.append)
        spec = TurnSpec(
            base_url="http://127.0.0.1:9", api_key="key", model="claude-opus-4-6", max_tokens=100,
            system="Be brief.", prompt="Hello?",
            messages=[*(messages or []), {"role": "user", "content": "Hello?"}], conversation="c1",
            tools=list(tools), stream=False, limits=limits or Limits(), checkpoint_key="checkpoint",
            cancel_key="cancel",
        )  # fmt: skip
        self.turn = Turn(spec, self.hooks.append, self.store)
        self.machine = machine(self.turn, now=self.clock)
        self.outcome: Outcome = Outcome()
        self.error: BaseException | None = None

    def cancel(self) -> None:
        self.store.put("cancel", True)

    def run(self) -> Hand:
        steps = self.machine.steps()
        effect = next(steps)
        while not isinstance(effect, Finish):
            self.effects.append(effect)
            try:
                result = self.perform(effect)
            except BaseException as error:  # noqa: BLE001
                effect = steps.throw(error)
            else:
                effect = steps.send(result)
        self.outcome, self.error = effect.outcome, effect.error
        return self

    def perform(self, effect: Effect) -> Any:
        if isinstance(effect, Ask):
            answer = self.answers.pop(0)
            return answer() if callable(answer) else answer
        if isinstance(effect, RunTools):
            return [self.on_tool(self, call.name) for call in effect.calls]
        if isinstance(effect, Wait):
            self.clock.time += effect.seconds
            return None
        assert not isinstance(effect, Finish)
        return effect.apply(self.turn)

    def of(self, kind: type[Any]) -> list[Any]:
        return [effect for effect in self.effects if isinstance(effect, kind)]

    @property
    def requests(self) -> list[list[Message]]:
        return [ask.body["messages"] for ask in self.of(Ask)]

    @property
    def ran(self) -> list[str]:
        return [call.name for effect in self.of(RunTools) for call in effect.calls]

    @property
    def problems(self) -> list[str]:
        return [str(effect.problem) for effect in self.of(Report)]

    @property
    def texts(self) -> list[str]:
        return [shown["content"] for shown in self.outcome.shown or []]

    @property
    def history(self) -> list[Message]:
        history: list[Message] = self.outcome.history
        return history

    def landed(self) -> bool:
        """Whether the turn left as every turn has to."""
        done = [publish for publish in self.of(Publish) if publish.done]
        return (
            len(done) == 1
            and self.effects[-1] is done[0]
            and not done[0].state["activity"]
            and len(self.of(RecordUsage)) == 1
            and not self.store
        )


def failure(*, retryable: bool, wait: float | None = None, **usage: int) -> Failed:
    return Failed(RuntimeError("overloaded"), retryable=retryable, wait=wait, usage=usage)
