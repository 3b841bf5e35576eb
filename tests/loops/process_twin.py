"""The reference loop as a process that speaks the protocol: the turn it plays is made of lines and requests.

`python process_twin.py` plays one turn, `python process_twin.py stay` one after the other.
"""

from __future__ import annotations

import http.client
import json
import sys
import threading
import traceback
from collections.abc import Iterator, MutableMapping
from contextlib import closing
from typing import Any
from urllib.parse import quote, urlsplit

from harness.loops.reference import DECLARATION, ReferenceTurn, sync_driver
from harness.loops.reference.clients import _retry_after
from harness.loops.reference.effects import Ask, Failed, Message
from harness.loops.reference.receive import BrokenStreamError
from harness.turn import HookError, Limits, Outcome, ToolError


class Line:
    """A line to the harness: one connection for each thread."""

    def __init__(self, url: str) -> None:
        self._place = urlsplit(url)
        self._own = threading.local()

    def ask(self, method: str, path: str, value: Any = None) -> tuple[int, Any]:
        connection = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = http.client.HTTPConnection(self._place.netloc)
        body = None if method in ("GET", "DELETE") else json.dumps(value)
        connection.request(method, self._place.path + path, body, {"content-type": "application/json"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())

    def tell(self, path: str, value: Any) -> Any:
        status, said = self.ask("POST", path, value)
        if status != 200:
            raise HookError(said["error"])
        return said


class Store(MutableMapping[str, Any]):
    """The store, as a mapping."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def __getitem__(self, key: str) -> Any:
        status, value = self._line.ask("GET", f"/store/{quote(key)}")
        if status == 404:
            raise KeyError(key)
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        self._line.ask("PUT", f"/store/{quote(key)}", value)

    def __delitem__(self, key: str) -> None:
        if self._line.ask("DELETE", f"/store/{quote(key)}")[0] == 404:
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._line.ask("GET", "/store")[1]["keys"])

    def __len__(self) -> int:
        return len(list(iter(self)))


class Tool:
    def __init__(self, line: Line, told: dict[str, Any]) -> None:
        self._line = line
        self.name, self.description = told["name"], told["description"]
        self.input_schema = told["input_schema"]

    def run(self, given: Any) -> Any:
        said = self._line.tell(f"/tools/{quote(self.name)}", given)
        if said["is_error"]:
            raise ToolError(said["content"])
        return said["content"]


class Turn:
    """What the reference loop needs of a turn."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._line = Line(told["harness_url"])
        for name in ("base_url", "api_key", "model", "max_tokens", "system", "prompt", "messages"):
            setattr(self, name, told[name])
        for name in ("conversation", "carry", "stream", "checkpoint_key", "cancel_key"):
            setattr(self, name, told[name])
        self.limits = Limits(**told["limits"])
        self.tools = [Tool(self._line, tool) for tool in told["tools"]]
        self.store = Store(self._line)

    def claim(self) -> bool:
        return bool(self._line.tell("/claim", None)["granted"])

    def cancelled(self) -> bool:
        return bool(self._line.ask("GET", "/cancelled")[1]["cancelled"])

    def publish(self, state: Any, history: Any = None, done: bool = False) -> None:
        self._line.tell("/publish", {"state": state, "history": history, "done": done})

    def report(self, problem: str | BaseException) -> None:
        kind = type(problem).__name__ if isinstance(problem, BaseException) else None
        self._line.tell("/report", {"problem": str(problem), "exception": kind})

    def record_usage(self, iterations: int | None = None, **tokens: int | None) -> None:
        self._line.tell("/usage", {"iterations": iterations, **tokens})

    def outcome(self, value: Any) -> None:
        self._line.tell("/outcome", value)


class StatusError(Exception):
    """The provider answered with an error."""


def ask(machine: ReferenceTurn, effect: Ask) -> Message | Failed:
    """Send one request with nothing but the standard library: a process is there in a moment."""
    place = urlsplit(machine.turn.base_url)
    headers = {
        "authorization": f"Bearer {machine.turn.api_key}",
        "anthropic-version": "2026-10-21",
        "content-type": "application/json",
        "x-stainless-retry-count": str(effect.attempt),
        **effect.headers,
    }
    accumulator = machine.accumulator()
    with closing(http.client.HTTPConnection(place.netloc, timeout=max(effect.timeout, 0.001))) as connection:
        try:
            connection.request("POST", f"{place.path}/v1/messages", json.dumps(effect.body), headers)
            response = connection.getresponse()
            if response.status != 200:
                return refused(response.status, response.headers, response.read())
            if not effect.body.get("stream"):
                return sync_driver.whole(response.read())
            return sync_driver.receive(machine, iter(lambda: response.read1(65536), b""), accumulator)
        except (BrokenStreamError, OSError, http.client.HTTPException) as error:
            return Failed(error, retryable=True, usage=accumulator.usage)


def refused(status: int, headers: Any, body: bytes) -> Failed:
    advice = headers["x-should-retry"]
    retryable = status in (408, 409, 429) or status >= 500
    if advice in ("true", "false"):
        retryable = advice == "true"
    error = StatusError(f"Error code: {status} - {body.decode(errors='replace')}")
    return Failed(error, retryable=retryable, wait=_retry_after(dict(headers)))


def play(told: dict[str, Any]) -> None:
    turn = Turn(told)
    try:
        turn.outcome(as_json(sync_driver.drive(ReferenceTurn(turn))))  # type: ignore[arg-type]
    except Exception as error:  # noqa: BLE001 - the outcome of a loop that raises
        bases = [cls.__name__ for cls in type(error).__mro__]
        said = {"type": type(error).__name__, "bases": bases, "message": str(error)}
        turn.outcome({"raised": {**said, "traceback": traceback.format_exc()}})


def as_json(outcome: Outcome) -> dict[str, Any]:
    return {name: getattr(outcome, name) for name in Outcome.__struct_fields__}


def main() -> None:
    sync_driver.ask = ask
    hello = {"hello": {"protocol": 1, "declaration": {"policies": DECLARATION.policies}}}
    print(json.dumps(hello), flush=True)
    if sys.argv[1:] != ["stay"]:
        play(json.loads(sys.stdin.read()))
        return
    for line in sys.stdin:
        told = json.loads(line)
        if "bye" in told:
            break
        play(told["run"])


if __name__ == "__main__":
    main()
