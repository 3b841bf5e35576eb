"""The blocking driver: does what the turn asks for, one effect after the other."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from typing import Any

from ...turn import Outcome, ToolError
from . import clients
from .effects import Ask, Call, Effect, Failed, Finish, Message, Ran, RunTools, Wait
from .receive import Accumulator, BrokenStreamError
from .turn import ReferenceTurn

POLL = 0.02
"""Seconds between two looks at the cancel flag while something else is under way."""


def drive(machine: ReferenceTurn) -> Outcome:
    """Run a turn to its end."""
    steps = machine.steps()
    effect = next(steps)
    while not isinstance(effect, Finish):
        try:
            result = perform(machine, effect)
        except BaseException as error:  # noqa: BLE001 - the turn decides what an exception means
            effect = steps.throw(error)
        else:
            effect = steps.send(result)
    if effect.error is not None:
        raise effect.error
    return effect.outcome


def perform(machine: ReferenceTurn, effect: Effect) -> Any:
    """Do one thing and return its result."""
    if isinstance(effect, Ask):
        return ask(machine, effect)
    if isinstance(effect, RunTools):
        return [run_tool(machine, call, effect.timeout) for call in effect.calls]
    if isinstance(effect, Wait):
        return wait(machine, effect.seconds)
    if isinstance(effect, Finish):
        raise TypeError("the driver has nothing to do to finish")
    return effect.apply(machine.turn)


def ask(machine: ReferenceTurn, effect: Ask) -> Message | Failed:
    """Send one request and receive the whole reply."""
    accumulator = machine.accumulator()
    create = clients.client(machine.turn.base_url).messages.with_streaming_response.create
    arguments = clients.arguments(effect, machine.turn.api_key)
    try:
        with create(**arguments) as response:
            if not effect.body.get("stream"):
                return whole(read(response))
            return receive(machine, response.iter_bytes(), accumulator)
    except Exception as error:  # noqa: BLE001 - classified, not swallowed
        return clients.failure(error, accumulator.usage)


def read(response: Any) -> bytes:
    """The body of a plain reply. Raises `BrokenStreamError` where it breaks off."""
    try:
        body: bytes = response.read()
    except Exception as error:
        raise BrokenStreamError(f"{type(error).__name__}: {error}") from error
    return body


def whole(body: bytes) -> Message:
    """The message of a plain reply. Raises `BrokenStreamError` where it is none."""
    try:
        message = json.loads(body)
    except ValueError as error:
        raise BrokenStreamError(f"the reply is not JSON: {error}") from error
    if not isinstance(message, dict) or message.get("type") != "message":
        raise BrokenStreamError("the reply is not a message")
    return message


def receive(machine: ReferenceTurn, chunks: Any, accumulator: Accumulator) -> Message:
    """The message of a stream. Raises `BrokenStreamError` where it never completed."""
    decoder = machine.decoder()
    try:
        for chunk in chunks:
            for event in decoder.feed(chunk):
                accumulator.add(event)
            if machine.interrupted():
                break
    except BrokenStreamError:
        raise
    except Exception as error:
        accumulator.cut_off()
        if not accumulator.complete:
            raise BrokenStreamError(f"{type(error).__name__}: {error}") from error
    return machine.received(accumulator)


def run_tool(machine: ReferenceTurn, call: Call, timeout: float) -> Ran:
    """Run a tool in a thread of its own, so that neither a cancellation nor the deadline waits for it."""
    done: list[Ran] = []
    worker = threading.Thread(
        target=lambda: done.append(_run(machine, call)), name=f"tool {call.name}", daemon=True
    )
    worker.start()
    deadline = time.monotonic() + timeout
    while not done:
        worker.join(POLL)
        if not worker.is_alive():
            break
        if machine.cancelled() or time.monotonic() >= deadline:
            return interrupted(call)
    return done[0] if done else Ran(f"{call.name} died without a result", is_error=True)


def _run(machine: ReferenceTurn, call: Call) -> Ran:
    try:
        return Ran(machine.tools[call.name].run(call.input))
    except BaseException as error:  # noqa: BLE001 - the model is told
        return tool_failure(call, error)


def tool_failure(call: Call, error: BaseException) -> Ran:
    """What the model is told about a tool that raised: never nothing."""
    content = error.content if isinstance(error, ToolError) else f"{type(error).__name__}: {error}"
    blank = not content.strip() if isinstance(content, str) else not content
    return Ran(f"{call.name} failed without saying why" if blank else content, is_error=True)


def interrupted(call: Call) -> Ran:
    """What the model is told about a tool that was left behind."""
    return Ran(
        f"{call.name} was interrupted before it returned; it may or may not take effect.", is_error=True
    )


def wait(machine: ReferenceTurn, seconds: float) -> None:
    """Let time pass, unless the turn is to stop."""
    until = time.monotonic() + seconds
    while not machine.interrupted() and (left := until - time.monotonic()) > 0:
        with contextlib.suppress(InterruptedError):
            time.sleep(min(left, POLL))
