"""What the harness ignores because of where it was started is not ignored by what it starts."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from harness.runner import Runner
from harness.signals import ignored_here_alone
from tests.loops.commanding import python

INHERITED = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"


@pytest.fixture
def in_the_background() -> Iterator[None]:
    """As a shell starts what it does not wait for."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


def ignoring() -> bool:
    """Whether a process that is started now ignores SIGINT."""
    done = subprocess.run([sys.executable, "-S", "-c", INHERITED], capture_output=True, check=True)
    return done.stdout.strip() == b"True"


@pytest.mark.usefixtures("in_the_background")
def test_what_is_started_can_be_interrupted_and_the_harness_still_cannot() -> None:
    with ignored_here_alone():
        signal.raise_signal(signal.SIGINT)
        assert not ignoring()

    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert ignoring()


@pytest.mark.usefixtures("in_the_background")
def test_a_loop_that_a_run_in_the_background_starts_can_be_interrupted() -> None:
    with Runner(python("cleans_up_when_interrupted")):
        assert not ignoring()

    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_handler_of_the_caller_stays() -> None:
    before = signal.getsignal(signal.SIGINT)
    with ignored_here_alone():
        assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("in_the_background")
def test_a_thread_that_cannot_change_it_leaves_it() -> None:
    said: list[object] = []

    def enter() -> None:
        with ignored_here_alone():
            said.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()

    assert said == [signal.SIG_IGN]
