"""What all processes of one command have in common: a mark, a folder, and who ends them when we are gone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import socket
import subprocess
import tempfile
import uuid

from .. import census
from .bootstrap import python
from .folders import remove

MANY = 8192
"""Open files that are enough."""


def allow_many_files() -> None:
    """A process may open a thousand connections, each of which is an open file here as well."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MANY if hard == resource.RLIM_INFINITY else min(MANY, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class Guard:
    """A warden for processes that cannot fork one off themselves: they may be written in any language."""

    def __init__(self) -> None:
        self.mark = uuid.uuid4().hex
        self.folder = tempfile.mkdtemp(prefix="loop-harness-")
        self._socket: socket.socket | None = None
        self._popen: subprocess.Popen[bytes] | None = None

    def post(self) -> None:
        """Start the warden. It ends what carries the mark as soon as this process is gone, however."""
        allow_many_files()
        self._socket, theirs = socket.socketpair()
        with theirs:
            call = f"stand({theirs.fileno()}, {self.folder!r}, {self.mark!r})"
            # It must not carry a mark itself, also where this process is one of another harness's.
            env = {name: value for name, value in os.environ.items() if name != census.MARK}
            self._popen = subprocess.Popen(  # noqa: S603
                python("warden", call), pass_fds=[theirs.fileno()], env=env, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip

    async def dismiss(self) -> None:
        """Do without the warden: everything is over."""
        if self._popen is not None:
            with contextlib.suppress(OSError):
                self._popen.kill()
            await asyncio.to_thread(self._popen.wait)
        if self._socket is not None:
            self._socket.close()
        await asyncio.to_thread(remove, self.folder)
