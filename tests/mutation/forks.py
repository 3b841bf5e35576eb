"""Work in forks of this process, a few at a time: each has all that was imported, and a deadline."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
Work = Callable[[], dict[str, Any]]
POLL = 0.01


@dataclass
class _Fork:
    process: int
    answer: Path
    until: float


def each(
    items: Iterable[tuple[T, Work]], *, at_once: int, deadline: float, log: Path
) -> Iterator[tuple[T, dict[str, Any]]]:
    """What each piece of work answers, as it comes: with `hung` where it was killed at its deadline.

    `items` is asked for the next one when there is room for it, so that it may depend on earlier answers.
    """
    waiting, running = iter(items), dict[int, tuple[T, _Fork]]()
    more = True
    with tempfile.TemporaryDirectory() as folder:
        while more or running:
            while more and len(running) < at_once:
                item = next(waiting, None)
                if item is None:
                    more = False
                    break
                fork = _start(item[1], Path(folder), deadline, log)
                running[fork.process] = item[0], fork
            for process, (name, fork) in list(running.items()):
                if (said := _finished(fork)) is not None:
                    del running[process]
                    yield name, said
            time.sleep(POLL)


def _start(work: Work, folder: Path, deadline: float, log: Path) -> _Fork:
    answer = Path(tempfile.mkstemp(dir=folder)[1])
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process == 0:
        _child(work, answer, log)
    return _Fork(process, answer, time.monotonic() + deadline)


def _child(work: Work, answer: Path, log: Path) -> None:
    try:
        os.setsid()
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        answer.write_text(json.dumps(work()))
    except BaseException:  # noqa: BLE001 - nothing may get out of a fork
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)  # threads of a changed loop may still run, and would be waited for


def _finished(fork: _Fork) -> dict[str, Any] | None:
    """What a fork answered; None while it works. Whatever it started dies with it."""
    late = time.monotonic() > fork.until
    if late:
        _kill(fork)
    done, status = os.waitpid(fork.process, 0 if late else os.WNOHANG)
    if not done:
        return None
    _kill(fork)
    text = fork.answer.read_text()
    fork.answer.unlink()
    if text:
        answer: dict[str, Any] = json.loads(text)
        return answer
    return {"hung": True} if late else {"died": os.waitstatus_to_exitcode(status)}


def _kill(fork: _Fork) -> None:
    try:
        os.killpg(fork.process, signal.SIGKILL)
    except ProcessLookupError:
        return
