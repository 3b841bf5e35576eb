"""A server beside a command, or until it is interrupted: what `record` and `replay` have in common."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Sequence

from ..provider.server import Provider, Service
from . import Stop
from .terminal import write

GRACE = 5.0
"""Seconds a command may take to end when we are to end."""


def say(text: str) -> None:
    """Tell something that is no output of the command: the standard output may be its own."""
    print(f"loop-harness: {text}", file=sys.stderr, flush=True)


async def run_beside(
    service: Service, command: Sequence[str], port: int, key: str | None = None
) -> int | None:
    """Serve while `command` runs, and return its exit code; without one until SIGINT or SIGTERM, and None.

    `ANTHROPIC_BASE_URL` is told, and `key` where the client does not need one of its own.
    """
    provider = Provider()
    try:
        await provider.start(port=port)
    except OSError as error:
        raise Stop(f"port {port} cannot be opened: {error.strerror}") from error
    provider.mount_service("", service)
    told = {"ANTHROPIC_BASE_URL": provider.url} | ({"ANTHROPIC_API_KEY": key} if key else {})
    try:
        if command:
            return await _command(command, told)
        await _interrupted(told)
        return None
    finally:
        await provider.close()


async def _interrupted(told: dict[str, str]) -> None:
    stopped = asyncio.Event()
    _on_signals(stopped.set)
    write("".join(f"{name}={value}\n" for name, value in told.items()))
    await stopped.wait()


async def _command(command: Sequence[str], told: dict[str, str]) -> int:
    if shutil.which(command[0]) is None:
        raise Stop(f"{command[0]!r} is no command that can be found")
    try:
        process = await asyncio.create_subprocess_exec(*command, env=os.environ | told)
    except OSError as error:
        raise Stop(f"{command[0]!r} cannot be started: {error.strerror}") from error
    # Ctrl-C reaches the command by itself: what becomes of it is up to the command.
    ending = asyncio.Event()
    _on_signals(ending.set, only=signal.SIGTERM)
    done = asyncio.ensure_future(process.wait())
    asked = asyncio.ensure_future(ending.wait())
    try:
        await asyncio.wait({done, asked}, return_when=asyncio.FIRST_COMPLETED)
        if not done.done():
            process.terminate()
            await asyncio.wait({done}, timeout=GRACE)
        if not done.done():
            process.kill()
        code = await done
    finally:
        asked.cancel()
    return code if code >= 0 else 128 - code


def _on_signals(do: object, only: int | None = None) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, do if only in (None, number) else _nothing)  # type: ignore[arg-type]


def _nothing() -> None:
    """The command gets the signal as well."""
