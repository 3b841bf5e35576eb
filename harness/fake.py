"""A scripted Messages API for ordinary tests: the suite's provider, its script written as the test goes.

provider.reply("Hello").reply({"tool_use": {"name": "look_up", "input": {"key": "a"}}}).fault(529)
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any, Self

import msgspec

from .history import AnyEvent, RequestSeen
from .provider.server import Provider
from .provider.session import Session
from .reach import Unreachable, check_reachable, check_sockets, unreachable
from .scenario.blocks import expand_block
from .scenario.model import Block, Step
from .scenario.places import HINT, parse_place
from .serving import everything

__all__ = ["FakeProvider", "SeenRequest", "Unreachable"]

KEY = "sk-ant-harness-provider"


class SeenRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request the code under test made."""

    path: str
    headers: dict[str, str]
    body: Any
    """The decoded JSON, or None where it was not JSON."""
    messages: list[dict[str, Any]]
    """The conversation the model would have seen."""


class FakeProvider:
    """A running provider. Beyond the script's end every request is answered with a 400 that says so.

    Each `POST /v1/messages` gets the next reply or fault; a reply streams if the request asks it to.
    """

    def __init__(self) -> None:
        self.events: list[AnyEvent] = []
        """All that happened, as a history has it."""
        self._script: list[Step] = []
        self._session = Session(key=KEY, scenario=everything(self._script), record=self.events.append)
        self._provider = Provider()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="harness-provider", daemon=True)

    @classmethod
    def start(cls) -> Self:
        """A provider that is reachable. Raises `Unreachable`."""
        check_sockets()
        fake = cls()
        try:
            fake._thread.start()
            fake._call(fake._provider.start())
            check_reachable(fake._provider.url)
        except Exception as error:
            fake.close()
            raise (error if isinstance(error, Unreachable) else unreachable(error)) from error
        fake._session.begin_turn(0)
        fake._soon(lambda: fake._provider.open(fake._session, alone=True))
        return fake

    @property
    def url(self) -> str:
        """The base URL: whatever key a client uses with it, it is answered from this script."""
        return f"{self._provider.url}/s/{KEY}"

    @property
    def api_key(self) -> str:
        """A key for clients that want one."""
        return KEY

    def reply(self, *content: str | Mapping[str, Any], stop_reason: str | None = None, **fields: Any) -> Self:
        """The next reply: texts, and blocks as on the wire or in a scenario's short form.

        The stop reason is `tool_use` where a client tool is called, else `end_turn`. `fields` are those of
        a scenario's `reply`: `delay`, `usage`, `breaks=[{"at": "event 3", "by": "reset"}]`.
        Raises `ValueError` for what is no block or field.
        """
        __tracebackhide__ = True
        blocks = list(map(_block, content))
        calls = any(block.get("type") == "tool_use" for block in blocks)
        reason = stop_reason or ("tool_use" if calls else "end_turn")
        return self._then({"reply": {"stop_reason": reason, "content": blocks, **fields}})

    def fault(self, status: int | None = None, **fields: Any) -> Self:
        """The next answer is an HTTP error, or none: `connection="reset"`.

        `fields` are those of a scenario's `fault`, such as `message` and `headers`.
        """
        __tracebackhide__ = True
        written = fields if status is None else {"status": status, **fields}
        if len({"status", "connection"} & written.keys()) != 1:
            raise ValueError("a fault has a status or a connection: fault(529), fault(connection='reset')")
        return self._then({"fault": written})

    @property
    def requests(self) -> list[SeenRequest]:
        """The requests made so far, oldest first."""
        return [_seen(event) for event in list(self.events) if isinstance(event, RequestSeen)]

    def close(self) -> None:
        """Stop serving."""
        if self._thread.is_alive():
            self._call(self._provider.close())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self._loop.close()

    def _then(self, written: dict[str, Any]) -> Self:
        __tracebackhide__ = True
        try:
            step = msgspec.convert(written, Step)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from None
        for each in step.reply.breaks if step.reply else []:
            if parse_place(each.at) is None:
                raise ValueError(f"{each.at!r} is no place in a reply; {HINT}")
        # The script at work reads this very list, so steps may be added while it runs.
        self._script.append(step)
        self._soon(self._session.look_ahead)
        return self

    def _soon(self, work: Callable[[], None]) -> None:
        """Do this in the thread that serves."""
        self._loop.call_soon_threadsafe(work)

    def _call(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)


def _block(written: str | Mapping[str, Any]) -> Block:
    __tracebackhide__ = True  # in pytest a mistake is shown where it was made, in the test
    if isinstance(written, str):
        return {"type": "text", "text": written}
    block, problems = expand_block(dict(written))
    if problems:
        raise ValueError("; ".join(problems))
    return block


def _seen(event: RequestSeen) -> SeenRequest:
    body = event.body if isinstance(event.body, dict) else {}
    messages = event.transcript if event.transcript is not None else body.get("messages", [])
    return SeenRequest(path=event.path, headers=event.headers, body=event.body, messages=messages)
