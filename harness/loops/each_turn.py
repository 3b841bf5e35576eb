"""A command that is started for each turn, and ends with it."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Sequence
from typing import Any

from ..history import Census, Lost, Noted
from ..store import Sink
from ..turn import TurnSpec
from .commanded import CommandProcess
from .playing import Playing
from .printed import HEAD
from .processes import ProcessDriver, encoded
from .protocol import MalformedError, turn_line

LINGER = 1.0
"""Seconds a process may take to end once it has told the outcome."""


class EachTurnDriver(ProcessDriver):
    """Plays every turn in a new process: the turn on its input, the outcome over HTTP or on its output."""

    most_output = HEAD
    """Bytes of its output that are kept from the beginning."""

    async def play(self, spec: TurnSpec, sink: Sink) -> None:
        """Play one turn; a process that overruns is interrupted, then stopped with all it started."""
        playing = self._begin(spec, sink)
        heard: list[Any] = []
        hear = functools.partial(self._hear, heard)
        process = self._process = CommandProcess(self._guard, hear, self.most_output)
        try:
            environment = self._environment(spec.api_key, playing.url)
            await process.start(self._words(spec), environment, self._command.cwd)
            process.say(self._input(spec, playing), last=True)
            await process.first(playing.outcome, spec.deadline)
            if playing.outcome.done():
                await asyncio.wait({process.died}, timeout=LINGER)
            if not self._killed:
                await self._ended(playing, process, heard)
        except OSError as error:
            playing.end(Lost(reason=f"{self._command.words[0]} cannot be started: {error.strerror}"))
        finally:
            self._process = None
            await asyncio.shield(process.stop())

    def _words(self, spec: TurnSpec) -> Sequence[str]:  # noqa: ARG002 - for those that put the turn there
        """The command of this turn."""
        return self._command.words

    def _input(self, spec: TurnSpec, playing: Playing) -> bytes:
        """What the process is told."""
        return encoded(turn_line(spec, playing.url, self._memories[spec.conversation].carry))

    def _hear(self, heard: list[Any], said: dict[str, Any]) -> None:
        if "hello" in said:
            self._greeted(said["hello"])
        elif "outcome" in said:
            heard[:] = [said["outcome"]]

    async def _ended(self, playing: Playing, process: CommandProcess, heard: list[Any]) -> None:
        """Record how the turn ended, and what became of the process."""
        if process.died.done():
            await process.settle()
            if heard and not playing.outcome.done():
                with contextlib.suppress(MalformedError):  # `_understand` tells
                    playing.conclude(heard[0])
            self._understand(playing, process)
        else:
            if playing.outcome.done():
                late = f"it still ran {LINGER:g} s after it had told the outcome, and was stopped"
                playing.tell(Noted(kind="lingered", detail=late))
            elif heard:
                playing.overran()
            else:
                self._overran(playing, process)
            playing.shut()
            await process.end(politely=True)
            await process.settle()
        self._keep(playing, process)
        playing.tell(process.exited())

    async def census(self) -> Census:
        """Count what the turns so far have left behind; their processes are gone."""
        return self._counted()
