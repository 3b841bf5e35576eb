"""The hooks of one turn over HTTP: what a process finds below `HARNESS_URL`."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias
from urllib.parse import parse_qs, unquote, urlsplit

from .. import clock
from ..turn import HookError, ToolError, Turn
from ..wire.codec import dumps
from .protocol import MalformedError, decoded

MOST_WAITING = 60.0
"""Seconds for which `GET /cancelled?wait=…` waits at most."""
LOOK = 0.01
"""Seconds between two looks at the cancel flag while somebody waits for it."""
Answer: TypeAlias = tuple[int, dict[str, str], bytes]
ROUTES = {
    "/tools/NAME": "POST the call's input",
    "/publish": "POST {state, history, done}",
    "/shown": "POST a message as the user sees it",
    "/report": "POST {problem, exception}",
    "/usage": "POST {iterations, input_tokens, output_tokens, …}",
    "/store": "GET the keys",
    "/store/KEY": "GET, PUT or DELETE a value",
    "/claim": "POST, to be the only worker on this turn",
    "/cancelled": "GET, with ?wait=5 for up to so many seconds",
    "/outcome": "POST the outcome",
}
"""All there is, for who asks for something else."""


class RefusedError(Exception):
    """The request cannot be meant."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Desk:
    """Answers the requests of one turn, as the methods of `turn` answer a Python loop."""

    def __init__(self, turn: Turn, conclude: Callable[[Any], None]) -> None:
        """`conclude` is told the outcome. It may raise `MalformedError`, which the process is answered."""
        self._turn = turn
        self._conclude = conclude
        self._over = False
        self.shown: list[Any] = []
        """What the process said it showed, one by one."""

    async def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:  # noqa: ARG002 - a handler's
        """Answer one request."""
        parts = urlsplit(path)
        try:
            return await self._answer(method, parts.path.rstrip("/"), parts.query, body)
        except RefusedError as refused:
            return _json({"error": refused.message}, refused.status)
        except MalformedError as malformed:
            return _json({"error": str(malformed)}, 400)
        except HookError as failed:
            # The scenario has the hook fail: to the loop it is a cache or a database that is down.
            return _json({"error": str(failed)}, 500)

    async def _answer(self, method: str, path: str, query: str, body: bytes) -> Answer:
        _, kind, *rest = [*path.split("/", 2), ""]
        name = unquote(rest[0]) if rest else ""
        if kind == "store":
            return self._store(method, name, body)
        if kind == "cancelled" and not name:
            _only(method, "GET", path)
            return await self._cancelled(query)
        if kind == "claim" and not name:
            _only(method, "POST", path)
            return _json({"granted": self._turn.claim()})
        if kind == "tools" and name:
            _only(method, "POST", path)
            return await self._tool(name, _decoded(body))
        hooks: dict[str, Callable[[Any], None]] = {
            "publish": self._publish,
            "shown": self._show,
            "report": self._report,
            "usage": self._usage,
            "outcome": self._outcome,
        }
        if name or kind not in hooks:
            raise RefusedError(404, _nothing_at(path))
        _only(method, "POST", path)
        hooks[kind](_decoded(body))
        return _json({})

    async def _tool(self, name: str, given: Any) -> Answer:
        tools = {tool.name: tool for tool in self._turn.tools}
        if name not in tools:
            known = f"one of {', '.join(tools)}" if tools else "this turn has none"
            raise RefusedError(404, f"there is no tool {name!r}{_near(name, tools)} ({known})")
        try:
            return _json({"content": await tools[name].arun(given), "is_error": False})
        except ToolError as error:
            return _json({"content": error.content, "is_error": True})
        except (OSError, KeyError, RuntimeError) as error:  # which a scenario has a tool of Python's raise
            return _json({"content": f"{type(error).__name__}: {error.args[0]}", "is_error": True})

    def _publish(self, said: Any) -> None:
        body = _fields("publish", said, ("state", "history", "done"))
        self._turn.publish(body.get("state"), body.get("history"), done=bool(body.get("done")))

    def _show(self, said: Any) -> None:
        self.shown += said if isinstance(said, list) else [said]

    def _report(self, said: Any) -> None:
        if isinstance(said, str):
            said = {"problem": said}
        body = _fields("report", said, ("problem", "exception"))
        problem, kind = str(body.get("problem", "")), body.get("exception")
        try:
            told = type(str(kind), (Exception,), {})(problem) if kind else problem
        except ValueError as error:
            raise RefusedError(400, f"report: exception: the name of a class: {error}") from None
        self._turn.report(told)

    def _usage(self, said: Any) -> None:
        if not isinstance(said, dict):
            raise RefusedError(400, "usage: an object of token counts under the API's names, and iterations")
        if not isinstance(iterations := said.get("iterations"), int | None):
            raise RefusedError(400, f"usage: iterations: how many requests there were, not {iterations!r}")
        self._turn.record_usage(**{str(name): count for name, count in said.items()})

    def _outcome(self, said: Any) -> None:
        # As in the line on the standard output, or what stands under its key there.
        whole = isinstance(said, dict) and said.keys() == {"outcome"}
        self._conclude(said["outcome"] if whole else said)
        self._over = True

    def _store(self, method: str, key: str, body: bytes) -> Answer:
        store = self._turn.store
        if not key:
            _only(method, "GET", "/store")
            return _json({"keys": list(store)})
        match method:
            case "PUT":
                store[key] = _decoded(body)
            case "DELETE":
                if key in store:
                    del store[key]
            case "GET":
                if key not in store:
                    raise RefusedError(404, f"the store has no {key!r}")
                return _json(store[key])
            case _:
                raise RefusedError(405, f"/store/KEY takes GET, PUT and DELETE, not {method}")
        return _json({})

    async def _cancelled(self, query: str) -> Answer:
        asked = parse_qs(query).get("wait", ["0"])[-1]
        try:
            until = clock.now() + min(float(asked), MOST_WAITING)
        except ValueError:
            raise RefusedError(400, f"wait: a number of seconds, not {asked!r}") from None
        # Who waits beside the turn is let go with it.
        while not (cancelled := self._turn.cancelled()) and clock.now() < until and not self._over:
            await asyncio.sleep(LOOK)
        return _json({"cancelled": cancelled})


def unknown_run() -> Answer:
    """The answer to a process whose turn is over."""
    return _json({"error": "this turn is over: nothing is taken any more"}, 410)


def _decoded(body: bytes) -> Any:
    try:
        return decoded(body) if body.strip() else None
    except MalformedError as error:
        raise RefusedError(400, f"the body is {error}") from None


def _fields(route: str, said: Any, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(said, dict):
        raise RefusedError(400, f"{route}: an object with {', '.join(known)}")
    for name in said:
        if name not in known:
            raise RefusedError(400, f"{route}: there is no field {name!r}{_near(name, known)}")
    return said


def _only(method: str, wanted: str, path: str) -> None:
    if method != wanted:
        raise RefusedError(405, f"{path} takes {wanted}, not {method}")


def _nothing_at(path: str) -> str:
    routes = "; ".join(f"{route}: {what}" for route, what in ROUTES.items())
    return f"there is nothing at {path!r}{_near(path, ROUTES)}. There is {routes}"


def _near(name: object, known: Any) -> str:
    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _json(value: Any, status: int = 200) -> Answer:
    return status, {"content-type": "application/json"}, dumps(value)
