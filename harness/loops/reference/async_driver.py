"""The asynchronous driver. Whatever it waits for, it gives up as soon as the turn is to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from ...turn import Outcome
from . import clients
from .effects import Ask, Call, Effect, Failed, Finish, Message, Ran, RunTools, Wait
from .receive import Accumulator, BrokenStreamError
from .sync_driver import POLL, interrupted, tool_failure, whole
from .turn import ReferenceTurn

T = TypeVar("T")


async def drive_async(machine: ReferenceTurn) -> Outcome:
    """Run a turn to its end."""
    steps = machine.steps()
    effect = next(steps)
    while not isinstance(effect, Finish):
        try:
            result = await perform(machine, effect)
        except BaseException as error:  # noqa: BLE001 - the turn decides what an exception means
            effect = steps.throw(error)
        else:
            effect = steps.send(result)
    if effect.error is not None:
        raise effect.error
    return effect.outcome


async def perform(machine: ReferenceTurn, effect: Effect) -> Any:
    """Do one thing and return its result."""
    if isinstance(effect, Ask):
        return await ask(machine, effect)
    if isinstance(effect, RunTools):
        return await asyncio.gather(*(run_tool(machine, call, effect.timeout) for call in effect.calls))
    if isinstance(effect, Wait):
        return await watched(machine, asyncio.sleep(effect.seconds), effect.seconds + 1, None)
    if isinstance(effect, Finish):
        raise TypeError("the driver has nothing to do to finish")
    return effect.apply(machine.turn)


async def watched(machine: ReferenceTurn, work: Coroutine[Any, Any, T], timeout: float, otherwise: T) -> T:
    """The result of `work`; or `otherwise`, after `timeout` seconds or a cancellation, and `work` stops."""
    task = asyncio.ensure_future(work)
    deadline = asyncio.get_running_loop().time() + timeout
    try:
        while True:
            left = deadline - asyncio.get_running_loop().time()
            done, _ = await asyncio.wait({task}, timeout=min(POLL, max(left, 0)))
            if done:
                return task.result()
            if machine.cancelled() or left <= 0:
                return otherwise
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=1)


async def ask(machine: ReferenceTurn, effect: Ask) -> Message | Failed:
    """Send one request and receive the whole reply."""
    accumulator = machine.accumulator()
    try:
        answer = await watched(machine, _exchange(machine, effect, accumulator), effect.timeout, None)
    except Exception as error:  # noqa: BLE001 - classified, not swallowed
        return clients.failure(error, accumulator.usage)
    if answer is None:
        return clients.failure(BrokenStreamError("given up"), accumulator.usage)
    return answer


async def _exchange(machine: ReferenceTurn, effect: Ask, accumulator: Accumulator) -> Message | None:
    create = clients.async_client(machine.turn.base_url).messages.with_streaming_response.create
    arguments = clients.arguments(effect, machine.turn.api_key)
    async with create(**arguments) as response:
        if not effect.body.get("stream"):
            return whole(await _read(response))
        return await _receive(machine, response.iter_bytes(), accumulator)


async def _read(response: Any) -> bytes:
    try:
        body: bytes = await response.read()
    except Exception as error:
        raise BrokenStreamError(f"{type(error).__name__}: {error}") from error
    return body


async def _receive(machine: ReferenceTurn, chunks: Any, accumulator: Accumulator) -> Message:
    decoder = machine.decoder()
    try:
        async for chunk in chunks:
            for event in decoder.feed(chunk):
                accumulator.add(event)
    except BrokenStreamError:
        raise
    except Exception as error:
        accumulator.cut_off()
        if not accumulator.complete:
            raise BrokenStreamError(f"{type(error).__name__}: {error}") from error
    return machine.received(accumulator)


async def run_tool(machine: ReferenceTurn, call: Call, timeout: float) -> Ran:
    """Run a tool until it returns, the deadline passes or the turn is cancelled."""
    if machine.cancelled():
        return machine.not_run(call)
    return await watched(machine, _run(machine, call), timeout, interrupted(call))


async def _run(machine: ReferenceTurn, call: Call) -> Ran:
    try:
        return Ran(await machine.tools[call.name].arun(call.input))
    except Exception as error:  # noqa: BLE001 - the model is told
        return tool_failure(call, error)
