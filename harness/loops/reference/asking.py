"""How the reference turn asks: one request, its retries, and what is counted."""

from __future__ import annotations

from collections.abc import Generator
from itertools import count
from typing import Any

from . import ends
from .effects import Ask, Drop, Effect, Failed, Hook, Message, Report, Wait
from .ends import End
from .keeping import Keeping

RETRIES = 2
"""How often a request is sent again."""


class Asking(Keeping):
    """One exchange with the provider, and where a torn-down turn goes on."""

    def resume(self) -> Generator[Effect, Any, Message | None]:
        """Go on where an earlier run of this turn was torn down, if its checkpoint is still there."""
        kept = self.turn.store.get(self.turn.checkpoint_key)
        if kept is None:
            return None
        if self.belongs_here(kept):
            return self.restore(kept)
        yield Drop(self.turn.checkpoint_key)
        return None

    def ask(self) -> Generator[Effect, Any, Message | End]:
        """One request and its reply, retried where that can help and there is time."""
        yield from self.attempt(self.showing("Thinking"))
        yield from self.attempt(self.checkpoint())
        for attempt in count():
            answer: Message | Failed = yield Ask(self.request(), self.left(), attempt, self.headers())
            if not isinstance(answer, Failed):
                self.count(answer)
                yield from self.attempt(self.checkpoint(answer))
                return answer
            self.usage.add(answer.usage)
            pause = self.pause_before_retry(answer, attempt)
            stop = self.must_stop()
            if stop is None and pause is None:
                return self.gave_up(answer)
            if stop is None and pause is not None:
                yield Wait(pause)
                stop = self.must_stop()
            if stop is not None:
                return stop
        raise AssertionError("unreachable")

    def count(self, reply: Message) -> None:
        """Count an answered request and what it used."""
        self.iterations += 1
        self.usage.add(reply.get("usage") or {})
        container = reply.get("container")
        if isinstance(container, dict) and container.get("id"):
            self.container = container["id"]

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        """Seconds to wait before the request is sent again; None: do not."""
        if not failure.retryable or attempt >= RETRIES:
            return None
        pause = 0.5 * 2**attempt if failure.wait is None else failure.wait
        return pause if pause < self.left() else None

    def gave_up(self, failure: Failed) -> End:
        """The end after a request that cannot be answered."""
        text = str(failure.error) or type(failure.error).__name__
        return ends.failed(text, failure.error)

    def attempt(self, hook: Hook) -> Generator[Effect, Any, None]:
        """Do what must not bring down the turn; a failure of it is reported."""
        try:
            yield hook
        except Exception as problem:  # noqa: BLE001 - a broken display is no reason to lose the answer
            if not isinstance(hook, Report):
                yield from self.attempt(Report(problem))
