"""Runs the command, in this process or as one of its own, and reads what it printed."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RIGHT = "harness.loops.reference:loop"
LOOP = '''
import json, urllib.request

def ask(turn):
    body = {"model": turn.model, "max_tokens": turn.max_tokens, "messages": turn.messages}
    headers = {"x-api-key": turn.api_key, "anthropic-version": "2023-06-01"}
    headers["content-type"] = "application/json"
    request = urllib.request.Request(turn.base_url + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)

def loop(turn):
    """Right for a text, wrong for whatever needs a second request."""
    return "".join(block["text"] for block in ask(turn)["content"] if block["type"] == "text")

def silent(turn):
    return "I asked nobody."

def broken(turn):
    raise RuntimeError("no such luck")
'''


def start(*arguments: str, cwd: Path = ROOT, path: Path | None = None, **env: str) -> subprocess.Popen[str]:
    """The command as a process; `path` comes first where Python looks for modules."""
    places = [*([path] if path else []), ROOT, ROOT / "harness" / "alias"]
    return subprocess.Popen(
        [sys.executable, "-m", "harness", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": ":".join(map(str, places)), **env},
        # Where the tests run in the background of a shell, SIGINT is ignored, and that would be inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,  # noqa: PLW1509
    )


def until(reached: object, seconds: float = 20.0) -> None:
    assert callable(reached)
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def serving(process: subprocess.Popen[str]) -> tuple[str, str]:
    assert process.stdout
    lines = [process.stdout.readline().strip() for _ in range(2)]
    assert [line.partition("=")[0] for line in lines] == ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"]
    return lines[0].partition("=")[2], lines[1].partition("=")[2]


def ask(url: str, key: str, text: str, said: object = None, more: str = "") -> dict:  # type: ignore[type-arg]
    messages: list[object] = [{"role": "user", "content": text}]
    if said is not None:
        messages.append({"role": "assistant", "content": said})
    if more:
        messages.append({"role": "user", "content": more})
    body = json.dumps({"model": "claude-opus-4-6", "max_tokens": 64, "messages": messages}).encode()
    headers = {"x-api-key": key, "anthropic-version": "2023-06-01", "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/v1/messages", body, headers)) as answer:
        return json.load(answer)  # type: ignore[no-any-return]


def in_a_terminal(here: Path, *arguments: str, **env: str) -> str:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=here,
        env={**kept, "TERM": "xterm", "PYTHONPATH": f"{ROOT}:{ROOT / 'harness' / 'alias'}", **env},
    )
    os.close(theirs)
    said = bytearray()
    try:
        while part := os.read(ours, 65536):
            said += part
    except OSError:
        pass  # that is how Linux says that the other end was closed
    finally:
        os.close(ours)
        process.wait(timeout=30)
    return said.decode()


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed, to either stream."""
    out, err = capsys.readouterr()
    return out + err
