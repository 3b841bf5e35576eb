"""A command that is started once and plays turn after turn: `hello`, `run`, `bye`."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from .. import census
from ..history import Census, Lost, Noted
from ..store import Sink
from ..turn import TurnSpec
from .command import Command
from .commanded import CommandProcess
from .driver import DriverError
from .place import Place
from .playing import Playing
from .processes import ProcessDriver, encoded, outcomes
from .protocol import ByeLine, MalformedError, RunLine, turn_line

HELLO = 20.0
"""Seconds a process may take to say hello."""
KEY = "sk-ant-import"
"""What is in the environment, in which no turn's key can be: it comes with the turn."""
TWICE = (
    "the process had told a second outcome of a turn, or one before its turn; where such a one comes late, "
    "it is taken for the next turn's: tell one for each, as a line or with POST /outcome"
)
ONE_PROCESS = "a process that is kept alive is not interrupted: it would be gone"


class KeptDriver(ProcessDriver):
    """Plays turns in one process, which is replaced when it has to be."""

    def __init__(self, command: Command, place: Place) -> None:
        super().__init__(command, place)
        self._ready: asyncio.Future[None] | None = None
        self._surplus = False
        """It told an outcome where none was waited for."""

    async def start(self) -> None:
        """Start the process and wait for its hello. Raises `DriverError`."""
        self._guard.post()
        await self._running()

    def cannot_cancel(self, via: str) -> str:
        """Signals would end the process."""
        return super().cannot_cancel(via) or (ONE_PROCESS if via in ("interrupt", "signal") else "")

    async def play(self, spec: TurnSpec, sink: Sink) -> None:
        """Play one turn in the process; if it overruns, it is stopped with all it started."""
        playing = self._begin(spec, sink)
        if self._surplus:
            # It may keep conversations in mind, so it is not replaced for that.
            self._surplus = False
            playing.tell(Noted(kind="twice", detail=TWICE))
        try:
            process = await self._running()
        except DriverError as error:
            playing.end(Lost(reason=str(error)))
            return
        self._outcomes = outcomes(process)
        carry = self._memories[spec.conversation].carry
        process.say(encoded(RunLine(run=turn_line(spec, playing.url, carry))))
        try:
            await process.first(playing.outcome, spec.deadline)
        except asyncio.CancelledError:
            playing.shut()
            await self._replace()
            raise
        if playing.outcome.done() and not process.died.done():
            return
        await self._lost(playing, process)

    async def _lost(self, playing: Playing, process: CommandProcess) -> None:
        """The process is dead, or has to be."""
        if self._killed:
            await self._replace()
            return
        if process.died.done():
            await process.settle()
            self._understand(playing, process)
        else:
            self._overran(playing, process)
            playing.shut()
            await process.end(politely=True)
            await process.settle()
        playing.tell(process.exited())
        await self._replace()

    async def _running(self) -> CommandProcess:
        if self._process and not self._process.died.done():
            return self._process
        await self._replace()
        self._ready = asyncio.get_running_loop().create_future()
        process = self._process = CommandProcess(self._guard, self._hear)
        try:
            await process.start(self._command.words, self._environment(KEY), self._command.cwd)
        except OSError as error:
            await self._replace()
            raise DriverError(f"{self._command.words[0]} cannot be started: {error.strerror}") from None
        await process.first(self._ready, HELLO)
        if self._ready.done() and not self._hello:
            return process
        problem = self._hello or f"{self.name}: {await self._silent(process)}"
        await self._replace()
        raise DriverError(problem)

    async def _silent(self, process: CommandProcess) -> str:
        if process.died.done():
            await process.settle()
            what = f"{process.how()} before it had said hello"
        else:
            what = f"it did not say hello within {HELLO:g} s: print " + '{"hello": {"protocol": 1}} as a line'
        said = "\n".join(text for text in (process.stdout.text, process.stderr.text) if text.strip())
        return f"{what}\n{said.rstrip()}".rstrip()

    async def _replace(self) -> None:
        if self._process:
            process, self._process = self._process, None
            await asyncio.shield(process.stop())

    def _hear(self, said: dict[str, Any]) -> None:
        if "hello" in said:
            self._greeted(said["hello"])
            if self._ready and not self._ready.done():
                self._ready.set_result(None)
        elif "outcome" in said and (self._playing is None or self._playing.outcome.done()):
            self._surplus = True
        elif "outcome" in said and self._playing:
            try:
                self._playing.conclude(said["outcome"])
            except MalformedError as error:
                self._playing.end(Lost(reason=str(error)))

    async def census(self) -> Census:
        """Count what the process has started and what it has in its temporary folder."""
        process = self._process
        if process is None or process.died.done():
            return Census(when="after")
        started = await process.family()
        return Census(
            when="after",
            children=sorted(started.values()),
            files=await asyncio.to_thread(census.files, process.temporary),
        )

    async def close(self) -> None:
        """Say goodbye, and end what does not go."""
        if self._process and not self._process.died.done():
            self._process.say(msgspec.json.encode(ByeLine(bye={})), last=True)
            await asyncio.wait({self._process.died}, timeout=0.5)
        await super().close()
