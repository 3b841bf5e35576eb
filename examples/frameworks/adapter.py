"""Plays turns for loop-harness where nothing of it is installed; docs/protocol.md has the lines.

It takes turns as they come, with and without `--keep-alive`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import traceback
import urllib.request
from collections.abc import Awaitable, Callable
from typing import Any

os.environ["NO_PROXY"] = "127.0.0.1"


class Turn:
    """What a turn is told, by name, and its hooks."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told

    def __getattr__(self, name: str) -> Any:
        return self._told[name]

    def hook(self, method: str, path: str, value: Any = None) -> Any:
        """Ask the harness. Raises `OSError` where it refuses."""
        body = None if value is None else json.dumps(value).encode()
        kind = {"content-type": "application/json"}
        asked = urllib.request.Request(self.harness_url + path, body, kind, method=method)
        with urllib.request.urlopen(asked) as answer:
            return json.load(answer)

    async def tool(self, name: str, given: Any) -> dict[str, Any]:
        """Run a tool: its `content`, and whether that `is_error`."""
        answer: dict[str, Any] = await asyncio.to_thread(self.hook, "POST", f"/tools/{name}", given)
        return answer

    def when_cancelled(self, call: Callable[[], Any]) -> None:
        """Call `call`, from another thread, when the turn is cancelled."""

        def wait() -> None:
            if self.hook("GET", "/cancelled?wait=600")["cancelled"]:
                call()
                self.hook("DELETE", f"/store/{self.cancel_key}")

        threading.Thread(target=wait, daemon=True).start()


def serve(loop: Callable[[Turn], Awaitable[dict[str, Any]]], **declaration: Any) -> None:
    """Play each turn that comes with `loop`, which returns an outcome."""
    _say({"hello": {"protocol": 1, "declaration": declaration}})
    for line in sys.stdin:
        told = json.loads(line)
        if "bye" in told:
            return
        try:
            outcome = asyncio.run(loop(Turn(told.get("run", told))))  # type: ignore[arg-type]
        except Exception as error:  # noqa: BLE001 - what leaves the loop is an outcome, too
            bases = [base.__name__ for base in type(error).__mro__[1:-1]]
            raised = {"type": type(error).__name__, "bases": bases, "message": str(error)}
            outcome = {"raised": {**raised, "traceback": traceback.format_exc()}}
        _say({"outcome": outcome})


def _say(line: dict[str, Any]) -> None:
    # Whatever a library prints stands on a line of its own.
    print(f"\n{json.dumps(line)}", flush=True)
