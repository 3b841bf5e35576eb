"""A process beside each host that ends what is left when the parent is gone, killed or crashed.

The host cannot be relied on for that: a loop that is blocked in C lets none of its threads run, and when a
host ends its group, children in a session of their own stay alive.
"""

from __future__ import annotations

import os
import select
import signal
import time
from contextlib import suppress

from .. import census
from .folders import remove

ROUNDS = 20
"""How often what is left is looked for: something may be started while the rest is being stopped."""


def post(control: int, folder: str, mark: str) -> int:
    """Fork off the warden of this process; returns its process id, or 0 where there can be none.

    It is nobody's child, so that a loop which waits for its children does not meet it. To be called while
    this process has one thread. `control` is a socket whose other end only the parent has; `mark` the value
    of `census.MARK` that all of the host's processes carry; `folder` the host's temporary folder.
    """
    if not mark or not hasattr(select, "poll"):
        return 0
    read, write = os.pipe()
    host = os.getpid()
    between = os.fork()
    if between == 0:
        try:
            os.setsid()
            if os.fork() == 0:
                os.write(write, b"%d" % os.getpid())
                _watch(control, host, folder, mark)
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(between, 0)
    told = os.read(read, 32)
    os.close(read)
    return int(told or 0)


def stand(control: int, folder: str, mark: str) -> None:
    """Be the warden of all processes that carry `mark`: in a process of its own, which does not carry it."""
    _watch(control, 0, folder, mark)


def _watch(control: int, host: int, folder: str, mark: str) -> None:
    """Keep nothing of the host's but the socket, wait until its other end is closed, then clear up."""
    os.chdir("/")
    os.dup2(control, 0)
    os.closerange(1, 1024)
    gone = select.poll()
    gone.register(0, 0)  # a hang-up is told without being asked for; reading would take what is the host's
    gone.poll()
    for _ in range(ROUNDS):
        alive = host != 0 and host in census.family(os.getpid(), mark)
        left = list(census.family(host or os.getpid(), mark))
        if alive:
            with suppress(OSError):
                os.killpg(host, signal.SIGKILL)
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not alive and not left:
            break
        time.sleep(0.02)
    remove(folder)
