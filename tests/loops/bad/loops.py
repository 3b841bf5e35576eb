"""Loops that behave badly, each in one way, and a few that behave."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

kept = []


def good(turn):
    turn.publish({"messages": [{"role": "assistant", "content": turn.prompt}]}, done=True)
    return f"{turn.prompt} at {os.environ['ANTHROPIC_BASE_URL']} with {os.environ['ANTHROPIC_API_KEY']}"


def environment(turn):
    names = ("HTTPS_PROXY", "http_proxy", "ANTHROPIC_AUTH_TOKEN", "NO_PROXY")
    return "|".join(os.environ.get(name, "-") for name in names)


def remembers(turn):
    before = turn.store.get("seen", 0)
    turn.store["seen"] = before + 1
    from harness import Outcome

    return Outcome(detail=f"{before} {turn.carry}", carry={"turns": before + 1})


async def same_event_loop(turn):
    kept.append(asyncio.get_running_loop())
    return str(len(set(map(id, kept))))


def runs_its_own_event_loop(turn):
    async def inner():
        return "inner"

    return asyncio.run(inner())


def has_an_event_loop(turn):
    async def inner():
        return "inner"

    return asyncio.get_event_loop().run_until_complete(inner())


class Agent:
    """Its instances are loops."""

    def __init__(self):
        self.turns = 0

    async def __call__(self, turn):
        self.turns += 1
        return str(self.turns)


def raises(turn):
    raise LookupError("no such page")


async def raises_async(turn):
    raise LookupError("no such page")


def exits(turn):
    sys.exit(4)


async def exits_async(turn):
    sys.exit(4)


def interrupts(turn):
    raise KeyboardInterrupt


async def cancels_itself(turn):
    raise asyncio.CancelledError


def returns_half_an_emoji(turn):
    turn.publish({"messages": ["\ud83d"]})
    return "cut: \ud83d"


def closes_what_is_not_its_own(turn):
    os.closerange(3, 1000)
    return "closed"


def returns_a_mapping(turn):
    return {"text": "hello"}


def returns_a_wrong_status(turn):
    from harness import Outcome

    return Outcome(status="complete")


def returns_a_circle(turn):
    from harness import Outcome

    history = []
    history.append(history)
    return Outcome(history=history)


def spins(turn):
    turn.report("spinning")
    while True:
        pass


async def spins_async(turn):
    turn.report("spinning")
    while True:
        pass


def sleeps(turn):
    time.sleep(10_000)


def blocks_every_thread(turn):
    ctypes.PyDLL(None).sleep(10_000)  # unlike CDLL it keeps the interpreter's lock


def swallows(turn):
    while True:
        try:
            while True:
                time.sleep(0.01)
        except BaseException:  # noqa: BLE001
            pass


def ignores_signals(turn):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1)


def waits_for_cancel(turn):
    while not turn.cancelled():
        time.sleep(0.005)
    return "cancelled"


def cleans_up(turn):
    try:
        time.sleep(30)
    finally:
        turn.report("cleaned up")


async def cleans_up_async(turn):
    try:
        await asyncio.sleep(30)
    finally:
        turn.report("cleaned up")


def handles_sigterm(turn):
    told = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda *_: told.set())
    turn.report("ready")
    try:
        return "told to end" if told.wait(10) else "never told"
    finally:
        signal.signal(signal.SIGTERM, before)


def runs_its_tool(turn):
    turn.tools[0].run({})
    time.sleep(10)


def daemonizes(turn):
    """A classic daemon: twice forked, in a session of its own, its output elsewhere."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            time.sleep(10_000)
        os._exit(0)
    os.wait()
    return "started"


def comes_back_twice(turn):
    """A fork that returns from the loop as its parent does."""
    kept.append(os.fork())
    if kept[-1] == 0:
        turn.publish({"messages": []})
        return "the child's"
    os.waitpid(kept[-1], 0)
    return "the parent's"


def leaves_a_child(turn):
    subprocess.Popen(["sleep", "10000"])
    return "started"


def leaves_a_child_elsewhere(turn):
    subprocess.Popen(["sleep", "10000"], start_new_session=True, env={"PATH": os.environ["PATH"]})
    return "started"


def returns_when_its_parent_is_gone(turn):
    """It has something to tell at the very moment when there is nobody to tell it to."""
    leaves_a_child_elsewhere(turn)
    turn.publish({"messages": ["started"]})
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.001)
    return "late"


def waits_for_its_children(turn):
    try:
        return f"met {os.wait()}"
    except ChildProcessError:
        return "no children"


def spins_beside_a_child(turn):
    leaves_a_child_elsewhere(turn)
    while True:
        pass


def leaves_a_thread(turn):
    threading.Thread(target=time.sleep, args=(10_000,), name="left behind").start()
    return "started"


async def leaves_a_task(turn):
    async def background():
        await asyncio.sleep(10_000)

    kept.append(asyncio.ensure_future(background()))
    await asyncio.sleep(0)
    return "started"


def leaves_a_socket(turn):
    kept.append(socket.socket())
    return "started"


def leaves_a_file(turn):
    handle, _ = tempfile.mkstemp(suffix=".left")
    os.close(handle)
    return "started"


def floods(turn):
    for _ in range(1600):
        os.write(1, b"x" * 65536)
    print("the last words")
    return "flooded"


def floods_and_dies(turn):
    floods(turn)
    sys.stdout.flush()
    os._exit(3)


def dies(turn):
    turn.report("about to die")
    print("famous last words", file=sys.stderr)
    os._exit(3)


def crashes(turn):
    os.kill(os.getpid(), signal.SIGSEGV)


def dies_later(turn):
    threading.Timer(0.05, os._exit, [7]).start()
    return "fine so far"


def reports_from_threads(turn):
    def work(name):
        for number in range(50):
            turn.report(f"{name} {number}")

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return "done"


def publishes_late(turn):
    def work():
        time.sleep(0.05)
        turn.report(f"late from {turn.prompt}")

    threading.Thread(target=work).start()
    return "early"


def publishes_much(turn):
    turn.publish({"messages": [{"role": "assistant", "content": "x" * 3_000_000}]})
    return "published"


def looks_elsewhere_up(turn):
    try:
        socket.create_connection(("api.anthropic.com", 443), timeout=5).close()
    except socket.gaierror:
        return "refused"
    return "connected"


def asks_here_and_elsewhere(turn):
    from harness.loops.reference import loop

    looks_elsewhere_up(turn)
    return loop(turn)
