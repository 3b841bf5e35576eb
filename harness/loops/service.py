"""A service that is reached as its users reach it: what is sent, where it answers, how it is started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from ..turn import EXPOSABLE
from .commanded import CommandProcess
from .driver import Driver, DriverError
from .guard import Guard
from .place import Place
from .reading import AnswerAt
from .surroundings import surroundings
from .template import Template, parse_template

KEY = "sk-ant-harness"
"""The key a service is started with. It is the same for all its life, so no session is known by it."""
PORT, PORT_NAME = 4010, "{port}"
_UNSEEN = "have the loop judged by itself, with an adapter: no user of a service sees it"
_DECLARED = "declare the limit of its own: `caps` in [tool.loop-harness]"
SEEN: dict[str, str] = {
    **dict.fromkeys(EXPOSABLE, _UNSEEN),
    **dict.fromkeys(("iterations", "wall_clock", "pauses"), _DECLARED),
    "shown": "say with --answer where an answer has its text",
    "cancel": "stop asking when the client hangs up",
}
"""How a service exposes what `turn.EXPOSABLE` names."""
PATIENCE = 25.0
"""Seconds a service may take until its port answers."""
LOOK = 0.02
"""Seconds between two looks at the port."""
DYING = 0.3
"""Seconds in which a death is known whose connections are seen to break."""
MOST_SAID = 2_000
"""Characters of its output that are told."""


@dataclass(frozen=True)
class Service:
    """A service and how to use it."""

    where: str
    """`POST http://127.0.0.1:3000/api/chat`; with `{port}` a free one is taken."""
    answer: AnswerAt
    body: str | None = None
    headers: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    """The command that starts it; empty where somebody else does."""
    serial: bool = False
    """Nothing is put into the prompts: a request belongs to the case that is played."""
    several: bool = False
    """It is asked for several turns at once."""
    until: str | None = None
    """The event that ends a stream whose connection stays open, by its name or data."""
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises `DriverError` for what cannot be meant."""
        self.template(PORT)
        if PORT_NAME in self.where and not self.words:
            raise DriverError(f"{PORT_NAME} is for a service that --start starts")
        if self.several and PORT_NAME not in self.where:
            raise DriverError(f"--jobs is for several services: --start them, with {PORT_NAME} in --http")

    @property
    def name(self) -> str:
        """`POST http://127.0.0.1:3000/api/chat`."""
        return self.where

    def template(self, port: int) -> Template:
        """What is sent, where the service has this port."""
        return parse_template(self.where.replace(PORT_NAME, str(port)), self.body, self.headers)

    def driver(self, place: Place) -> Driver:
        """A driver for one worker."""
        from .client import ServiceDriver

        return ServiceDriver(self, place, free_port() if PORT_NAME in self.where else PORT)


class Started:
    """A service that was started here, with all that it starts itself."""

    def __init__(self, service: Service, place: Place, port: int) -> None:
        self._service = service
        self._port = port
        self._url = urlsplit(service.template(port).url)
        self._place = place
        self._guard = Guard()
        self._process: CommandProcess | None = None

    async def start(self) -> None:
        """Start it, and wait until its port answers. Raises `DriverError`."""
        if await self._answers():
            raise DriverError(f"something answers at {self._address} already: end it, or leave out --start")
        self._guard.post()
        await self._spawn()

    async def again(self) -> None:
        """Start it again where it has died. Raises `DriverError`."""
        if self._process is not None and self._process.died.done():
            await self._process.stop()
            await self._spawn()

    async def _spawn(self) -> None:
        environment = surroundings(
            os.environ,
            base_url=self._place.base_url,
            api_key=KEY,
            mark=self._guard.mark,
            proxy=self._place.proxy,
        )
        environment |= {"PORT": str(self._port)} if PORT_NAME in self._service.where else {}
        process = self._process = CommandProcess(self._guard, lambda _: None)
        words = [word.replace(PORT_NAME, str(self._port)) for word in self._service.words]
        try:
            await process.start(words, {**environment, **self._service.env}, self._service.cwd)
            process.say(b"", last=True)
        except OSError as error:
            raise DriverError(f"{words[0]} cannot be started: {error.strerror}") from None
        opened = asyncio.ensure_future(self._opened())
        await process.first(opened, PATIENCE)
        if not opened.done():
            opened.cancel()
            what = self._ended_early() or f"nothing answers at {self._address} after {PATIENCE:g} s"
            raise DriverError(f"--start {' '.join(words)}: {what}\n{await self.output()}".rstrip())

    def _ended_early(self) -> str:
        stays = "; it has to stay in the foreground: what it leaves behind is ended with it"
        return self.died + (stays if self.died.endswith("exit 0") else "")

    @property
    def died(self) -> str:
        """How it ended; empty while it runs."""
        process = self._process
        return process.how() if process is not None and process.died.done() else ""

    async def may_die(self) -> None:
        """Its connection broke: wait a moment for the news that it is dead, if that is why."""
        if self._process is not None:
            await asyncio.wait({self._process.died}, timeout=DYING)

    async def output(self) -> str:
        """The end of what it printed, errors last."""
        if self._process is None:
            return ""
        if self._process.died.done():
            await self._process.settle()
        said = [self._process.stdout.text.strip(), self._process.stderr.text.strip()]
        return "\n".join(text for text in said if text)[-MOST_SAID:]

    async def family(self) -> list[str]:
        """What it has started and still runs."""
        return sorted((await self._process.family()).values()) if self._process else []

    @property
    def temporary(self) -> Path | None:
        """Where its temporary files go."""
        return self._process.temporary if self._process else None

    async def close(self) -> None:
        """End it, and all that it started."""
        if self._process is not None:
            await self._process.stop(politely=True)
        await self._guard.dismiss()

    @property
    def _address(self) -> str:
        return self._url.netloc

    async def _opened(self) -> None:
        while not await self._answers():
            await asyncio.sleep(LOOK)

    async def _answers(self) -> bool:
        port = self._url.port or (443 if self._url.scheme == "https" else 80)
        try:
            _, writer = await asyncio.open_connection(self._url.hostname, port)
        except OSError:
            return False
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        return True


def free_port() -> int:
    """A port nobody uses just now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
