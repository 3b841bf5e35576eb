"""What all drivers of commands share: conversations, cancellation, leftovers, how an exit is understood."""

from __future__ import annotations

import dataclasses
import os
import re
import signal
from typing import Any

import msgspec

from .. import census, declaration
from ..declaration import DeclarationError
from ..history import Census, Ended, Lost, Noted, Raised
from ..store import Sink
from ..turn import Declaration, TurnSpec
from .command import Command
from .commanded import CommandProcess
from .driver import Driver, DriverError, Reach
from .guard import Guard
from .place import Place
from .playing import Memory, Playing
from .protocol import UNSUPPORTED, MalformedError, read_hello
from .surroundings import surroundings

SIGNALS = {"interrupt": signal.SIGINT, "signal": signal.SIGTERM}
NO_TASK = "a process has no task that could be cancelled"
_OUTCOME = re.compile(r'^\s*\{\s*"outcome"\s*:', re.MULTILINE)
SPREAD = (
    "outcome: what was printed is not JSON on one line of at most 16 MB: write it without line ends "
    "(jq -c, JSON.stringify(value)) and to its end, or as the body of POST /outcome"
)
MOST_SAID = 2_000
"""Characters of what a process wrote to its error output that are told."""


class ProcessDriver:
    """The parts of a driver that do not depend on how long its process lives."""

    kind = "process"

    def __init__(self, command: Command, place: Place) -> None:
        self.name = command.name
        self._declared = Declaration()
        self._heard: dict[str, Any] = {}
        self._command = command
        self._place = place
        self._guard = Guard()
        self._memories: dict[str, Memory] = {}
        self._playing: Playing | None = None
        self._process: CommandProcess | None = None
        self._killed = False
        self._outcomes = 0
        """Outcomes the process had printed before this turn."""
        self._hello: str = ""
        """What is wrong with what the process declared."""

    # --- what `Driver` asks for -------------------------------------------------------------------

    @property
    def declaration(self) -> Declaration:
        """What is declared, by whichever process of the command said so first."""
        if self._heard != self._command.hello:
            self._declare(self._command.hello)
        return self._declared

    async def start(self) -> None:
        """Get ready. Raises `DriverError`."""
        self._guard.post()
        self._declare(self._command.hello)

    @property
    def reach(self) -> Reach:
        """It is handed the turn."""
        return "turn"

    def cannot_cancel(self, via: str) -> str:
        """A process has no task."""
        return NO_TASK if via == "asyncio" else ""

    async def cancel(self, spec: TurnSpec, via: str = "flag") -> None:
        """Set the flag, or send the process a signal."""
        if via in SIGNALS:
            if self._playing:
                self._playing.interrupt(via)
        elif memory := self._memories.get(spec.conversation):
            memory.store.put(spec.cancel_key, True)
        else:
            memory = self._memories[spec.conversation] = Memory()
            memory.store.put(spec.cancel_key, True)

    @property
    def watched(self) -> bool:
        """Whom else it asks is noted."""
        return True

    @property
    def killable(self) -> bool:
        """It is a process of its own."""
        return True

    def kill(self) -> None:
        """Kill it now."""
        self._killed = True
        if self._playing:
            self._playing.shut()
        if self._process:
            self._process.kill()

    def another(self, worker: str) -> Driver:
        """A second process of the same command."""
        return self._command.driver(dataclasses.replace(self._place, worker=worker))

    async def forget(self, conversation: str) -> None:
        """Drop the conversation's store, and what its turns still send."""
        self._memories.pop(conversation, None)
        if self._playing and self._playing.spec.conversation == conversation:
            self._playing.shut()
            self._playing = None

    async def close(self) -> None:
        """End everything."""
        if self._playing:
            self._playing.shut()
        if self._process:
            process, self._process = self._process, None
            await process.stop(politely=True)
        await self._guard.dismiss()

    # --- what the two kinds of drivers use --------------------------------------------------------

    def _begin(self, spec: TurnSpec, sink: Sink) -> Playing:
        if self._playing:
            self._playing.shut()
        self._killed = False
        memory = self._memories.setdefault(spec.conversation, Memory())
        self._playing = Playing(spec, sink, memory, self._place, self._interrupt)
        return self._playing

    def _interrupt(self, via: str) -> None:
        if self._process:
            self._process.signal(SIGNALS[via])

    def _environment(self, api_key: str, harness_url: str = "") -> dict[str, str]:
        found = surroundings(
            os.environ,
            base_url=self._place.base_url,
            api_key=api_key,
            harness_url=harness_url,
            mark=self._guard.mark,
            proxy=self._place.proxy,
        )
        return {**found, **self._command.env}

    def _greeted(self, said: Any) -> None:
        """Take what a process declares: it is the same for all processes of the command."""
        try:
            told = {**self._command.hello, **read_hello(said)}
            self._declare(told)
            self._command.hello.update(told)
            self._hello = ""
        except (MalformedError, DriverError) as error:
            self._hello = str(error)

    def _declare(self, told: dict[str, Any]) -> None:
        try:
            self._declared = declaration.collect(
                told, self._place.declaration, self._place.folder, "the process's hello"
            )
        except DeclarationError as error:
            raise DriverError(str(error)) from None
        self._heard = dict(told)

    def _understand(self, playing: Playing, process: CommandProcess) -> None:
        """Record how the turn of a process that is dead has ended."""
        code = process.died.result()
        said = process.stderr.text.strip()[-MOST_SAID:]
        if self._hello:
            playing.tell(Lost(reason=self._hello))
        elif code < 0 and not playing.interrupted:
            playing.tell(Lost(reason=process.how(), output=said))
        elif playing.outcome.done():
            return
        elif code == UNSUPPORTED:
            why = f"the loop says that it cannot do this: {process.stderr.last_line or 'exit 10'}"
            playing.tell(Noted(kind="unplayable", detail=why))
            playing.end(Lost(reason=why))
        elif playing.malformed:
            playing.end(Lost(reason=playing.malformed, output=said))
        elif code or playing.interrupted:
            playing.end(exit_of(code, process, interrupted=bool(playing.interrupted)))
        elif spoiled := self._spoiled(process):
            playing.end(Lost(reason=spoiled, output=said))
        elif playing.asked:
            playing.end(Ended(returned="none"))
        else:
            reason = "it ended with exit 0, having neither asked the provider nor told an outcome"
            playing.end(Lost(reason=reason, output=_output(process)))

    def _overran(self, playing: Playing, process: CommandProcess) -> None:
        """Record that the turn did not end in time; perhaps it meant to have told its outcome."""
        playing.malformed = playing.malformed or self._spoiled(process)
        playing.overran()

    def _spoiled(self, process: CommandProcess) -> str:
        """What is wrong with an outcome that was printed, where none was understood."""
        return SPREAD if outcomes(process) > self._outcomes else ""

    def _keep(self, playing: Playing, process: CommandProcess) -> None:
        """Remember what the process left: one that is new for each turn cannot be seen to grow."""
        memory = self._memories.get(playing.spec.conversation)
        if memory is not None:
            memory.left += process.left.values()
            memory.files += census.files(process.temporary)

    def _counted(self) -> Census:
        memory = self._memories.get(self._playing.spec.conversation) if self._playing else None
        if memory is None:
            return Census(when="after")
        return Census(when="after", children=sorted(memory.left), files=sorted(memory.files))


def outcomes(process: CommandProcess) -> int:
    """How many outcomes stand in what is kept of its output, understood or not."""
    return len(_OUTCOME.findall(process.stdout.text))


def encoded(line: Any) -> bytes:
    """A line as it is written, without its end."""
    return msgspec.json.encode(line)


def exit_of(code: int, process: CommandProcess, *, interrupted: bool) -> Ended:
    """An exit status that is not 0 stands for an exception."""
    name = f"exit {code}" if code >= 0 else process.how().rpartition(": ")[2]
    bases = [name, "exit", *(["KeyboardInterrupt"] if interrupted else [])]
    said = process.stderr.text.strip()[-MOST_SAID:]
    return Ended(
        returned="raised",
        raised=Raised(type=name, bases=bases, message=process.stderr.last_line, traceback=said),
    )


def _output(process: CommandProcess) -> str:
    """The end of what it printed, errors last."""
    said = [text for text in (process.stdout.text.strip(), process.stderr.text.strip()) if text]
    return "\n".join(said)[-MOST_SAID:]
