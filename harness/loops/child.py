"""The host process: loads a loop, then plays turns in its main thread as it is told to.

A second thread listens to the parent all the time, so that a cancel or a count gets through while the loop
works. A warden ends this process, and what it started, when the parent is gone.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import queue
import signal
import socket
import sys
import threading
import time
from typing import NoReturn

from .. import census, declaration
from ..plain import plain
from . import warden
from .borrowed import environment, set_environment
from .channel import Answer, Ask, Control, Hooks
from .driver import DriverError
from .folders import remove
from .lookups import Lookups
from .play import Stage, is_async
from .resolve import resolve
from .standing import standing

SOCKETS = 4
"""Of the host itself: two channels, and the two ends by which an event loop wakes itself."""

PATIENCE = 2.0
"""Seconds in which the warden ends this process once the parent is gone."""


def main(target: str, hooks_fd: int, control_fd: int) -> None:
    """Run until the parent says goodbye. `target` names the loop; the two sockets are inherited."""
    sys.argv = [target]
    # A process started in the background may have inherited that it is to ignore them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    folder = os.environ.get("TMPDIR", "")
    guard = warden.post(control_fd, folder, os.environ.get(census.MARK, ""))
    hooks = Hooks(socket.socket(fileno=hooks_fd))
    host = Host(Control(socket.socket(fileno=control_fd)), hooks, folder, guard)
    threading.Thread(target=host.listen, name=f"{census.OURS} control", daemon=True).start()
    try:
        host.load(target)
        host.work()
    except OSError as error:
        if error.errno in (errno.EBADF, errno.ENOTSOCK):
            sys.exit("the loop closed file descriptors it had not opened, among them those of its host")
        if error.errno not in (errno.EPIPE, errno.ECONNRESET):
            raise
        # Who is a child of this process is found by it: it must not end before the warden has looked.
        host.end_with_parent()


class Host:
    """What the two threads share."""

    def __init__(self, control: Control, hooks: Hooks, folder: str, guard: int) -> None:
        self._control = control
        self._hooks = hooks
        self._folder = folder
        self._guard = guard
        self._plays: queue.SimpleQueue[tuple[int, Ask] | None] = queue.SimpleQueue()
        self._stage: Stage | None = None

    def load(self, target: str) -> None:
        """Import the loop and tell the parent how that went."""
        try:
            with Lookups(lambda _: None):  # who is asked for here is in what the import raises
                function = resolve(target)
        except DriverError as error:
            self._control.say(0, Answer(problem=str(error), warden=self._guard))
            return
        self._stage = Stage(function)
        declared = plain(declaration.attributes(function))
        asynchronous = is_async(function)
        self._control.say(0, Answer(declared=declared, asynchronous=asynchronous, warden=self._guard))

    def work(self) -> None:
        """Play turns in this thread, the main one, until it is time to go."""
        while asked := self._plays.get():
            number, ask = asked
            if self._stage and ask.spec:
                set_environment(environment(ask.spec.base_url, ask.spec.api_key))
                self._stage.play(ask.spec, self._hooks.sink(number))
            self._control.say(number, Answer())
        if self._stage:
            self._stage.close()
        gc.freeze()  # Python would look through every library once more before it ends: a third of a second

    def listen(self) -> None:
        """Answer the parent from a thread of its own."""
        while asked := self._control.next():
            number, ask = asked
            if ask.do == "play":
                self._plays.put(asked)
            elif ask.do == "bye":
                self._plays.put(None)
            else:
                self._control.say(number, self._answer(ask))
        self.end_with_parent()

    def _answer(self, ask: Ask) -> Answer:
        if self._stage is None:
            return Answer(problem="no loop is loaded")
        if ask.do == "cancel":
            self._stage.cancel(ask.conversation, ask.key, ask.via)
        elif ask.do == "forget":
            self._stage.forget(ask.conversation)
        elif ask.do == "census":
            mark = os.environ.get(census.MARK, "")
            loop, guard = self._stage.loop, self._guard
            return Answer(census=census.take(loop, self._folder, mark=mark, ours=SOCKETS, warden=guard))
        elif ask.do == "stand":
            return Answer(stood=standing(threading.main_thread().ident or 0))
        return Answer()

    def end_with_parent(self) -> NoReturn:
        """Leave it to the warden; where there is none, clean up what is known without looking."""
        time.sleep(PATIENCE if self._guard else 0)
        remove(self._folder)
        with contextlib.suppress(OSError):
            if os.getpgrp() == os.getpid():
                os.killpg(0, signal.SIGKILL)
        os._exit(1)
