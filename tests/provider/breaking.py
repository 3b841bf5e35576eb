"""Plays steps that break, and reads what is left of their answers."""

from __future__ import annotations

from typing import Any

import pytest

from harness.history import Broken
from harness.scenario.model import Break, Step
from tests.provider.serve import Served, body, reply
from tests.provider.wire import CutError, Wire

LONG = "Hello there, what a day, and so much of it still to come."


def broken(at: str, by: str, *content: Any, **fields: Any) -> Step:
    return reply(*(content or (LONG,)), breaks=[Break(at=at, by=by, **fields)])


def ask(served: Served, *steps: Step, stream: bool = True) -> tuple[int, dict[str, str], bytes]:
    served.open(list(steps))
    with Wire(served) as wire:
        wire.send(wire.ask(body(stream=stream)))
        return wire.read()


def cut(served: Served, *steps: Step, stream: bool = True) -> CutError:
    with pytest.raises(CutError) as caught:
        ask(served, *steps, stream=stream)
    served.settle()
    return caught.value


def events(data: bytes) -> list[str]:
    return [line.removeprefix("event: ") for line in data.decode().split("\n") if line.startswith("event: ")]


def told(served: Served) -> tuple[int, str, str]:
    served.settle()
    [event] = served.of(Broken)
    return event.events, event.by, event.how
