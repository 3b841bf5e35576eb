"""What is alive: threads, tasks, child processes, sockets and temporary files, counted from within a process.

`family` is also how a process that is to be stopped finds what it started: descendants by parentage, and what
left the family (a daemon, an orphan) by a mark that every process inherits in its environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import stat
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path

import msgspec

from .history import Census

MARK = "LOOP_HARNESS_RUN"
"""The environment variable by which processes of one host are known."""
OURS = "loop-harness"
"""Threads whose name begins with this belong to the harness and are not counted."""
MOST_FILES = 100
MOST_LOOKED = 20_000
"""Files and folders that are looked at."""


class Process(msgspec.Struct, frozen=True):
    """One process of this machine, as far as it can be seen."""

    pid: int
    parent: int
    session: int
    """0 where the machine does not tell."""
    state: str
    """One letter; `Z` is dead, waiting to be reaped."""
    marked: bool
    command: str


def take(
    loop: asyncio.AbstractEventLoop | None = None,
    folder: str | None = None,
    *,
    mark: str = "",
    ours: int = 0,
    warden: int = 0,
) -> Census:
    """Count what is alive in this process. May be called from any thread, also while `loop` runs.

    `loop`: whose tasks to count. `folder`: whose files to list. `mark`: the value of `MARK` its processes
    carry, where they carry one. `ours`: how many open sockets are the harness's own. `warden`: a process that
    is the harness's own.
    """
    started = family(os.getpid(), mark)
    started.pop(warden, None)
    return Census(
        when="after",
        threads=sorted(_threads()),
        tasks=sorted(_tasks(loop)) if loop else [],
        children=sorted(started.values()),
        sockets=max(0, _sockets() - ours),
        files=files(Path(folder)) if folder else [],
    )


def family(pid: int, mark: str = "", known: Mapping[int, str] | None = None) -> dict[int, str]:
    """Living descendants of `pid`, and living processes that carry `mark` or are of the session `pid` began.

    Command lines by process id. Neither `pid` itself nor the dead are in it. Empty where the machine does
    not tell. `known`: an earlier answer; who was in it and still lives is in this one, although the parent
    between may be gone.
    """
    processes = _processes(mark)
    known = known or {}
    found = {p.pid for p in processes if p.marked or p.session == pid or known.get(p.pid) == p.command}
    parents = {pid}
    while parents:
        parents = {p.pid for p in processes if p.parent in parents}
        found |= parents
    found -= {pid, os.getpid()}
    return {p.pid: p.command for p in processes if p.pid in found and p.state != "Z"}


def _threads() -> list[str]:
    main = threading.main_thread()
    return [t.name for t in threading.enumerate() if t is not main and not t.name.startswith(OURS)]


def _tasks(loop: asyncio.AbstractEventLoop) -> list[str]:
    try:
        tasks = asyncio.all_tasks(loop)
    except RuntimeError:  # the loop's thread kept on creating tasks while they were counted
        return []
    # The coroutine's name, not the task's: `Task-7` would be another name at each count.
    return [getattr(task.get_coro(), "__qualname__", "task") for task in tasks if not task.done()]


def _sockets() -> int:
    count = 0
    for name in _list("/dev/fd"):
        with contextlib.suppress(OSError, ValueError):
            count += stat.S_ISSOCK(os.fstat(int(name)).st_mode)
    return count


def files(folder: Path) -> list[str]:
    """Files below `folder`, of very many the first `MOST_FILES` that are found; links are not followed."""
    found: list[str] = []
    folders, looked = [str(folder)], 0
    while folders and len(found) < MOST_FILES and looked < MOST_LOOKED:
        inner = folders.pop()
        try:
            with os.scandir(inner) as entries:
                some = sorted(itertools.islice(entries, MOST_LOOKED - looked), key=lambda each: each.name)
        except OSError:  # it is gone, not ours to read, or its name is too long
            continue
        looked += len(some)
        folders += [each.path for each in reversed(some) if each.is_dir(follow_symlinks=False)]
        found += [each.path for each in some if not each.is_dir(follow_symlinks=False)]
    # A name is bytes: it need not be text.
    told = [os.fsencode(os.path.relpath(path, folder)).decode("utf-8", "replace") for path in found]
    return sorted(told)[:MOST_FILES]


def _list(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are all that is wanted of /proc
    except OSError:
        return []


def _processes(mark: str) -> list[Process]:
    sign = f"{MARK}={mark}" if mark else ""
    if Path("/proc/self/stat").exists():
        return [p for name in _list("/proc") if name.isdigit() and (p := _from_proc(name, sign.encode()))]
    return _from_ps(sign)


def _from_proc(name: str, sign: bytes) -> Process | None:
    folder = Path("/proc", name)
    try:
        state, parent, _, session = (folder / "stat").read_bytes().rpartition(b")")[2].split()[:4]
        command = (folder / "cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ")
    except OSError:  # it ended meanwhile
        return None
    marked = False
    if sign:
        with contextlib.suppress(OSError):  # another user's
            marked = sign in (folder / "environ").read_bytes().split(b"\0")
    return Process(
        int(name), int(parent), int(session), state.decode(), marked, command.decode(errors="replace")
    )


def _from_ps(sign: str) -> list[Process]:
    """For machines without /proc. `-E` shows the environment behind the command, where that is allowed."""
    asked = subprocess.run(
        ["/bin/ps", "-A", "-E", "-ww", "-o", "pid=,ppid=,state=,command="],
        stdin=subprocess.DEVNULL, capture_output=True, check=False,
    )  # fmt: skip
    found: list[Process] = []
    for line in asked.stdout.decode(errors="replace").splitlines():
        pid, parent, state, command = (*line.split(None, 3), "", "", "", "")[:4]
        if pid.isdigit() and parent.isdigit():
            found.append(
                Process(int(pid), int(parent), 0, state[:1], bool(sign) and sign in command, command)
            )
    return found
