"""The servers that are measured: how each is started, and where its Messages API is.

All answer the prompt `bench` with the same text; a stream of it has 20 events.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).parent
TEXT = " ".join(f"w{number:02}" + "abcdefghij" * 4 + "xyz" for number in range(15))
SIZE = 47
"""Characters of a fragment, so that there are 15 of them."""

AIMOCK = "@copilotkit/aimock"
MOCKTOPUS = "mocktopus==0.2.0"


@dataclass(frozen=True)
class Server:
    """One server: its command for a port, and the path below it."""

    name: str
    command: Callable[[int], list[str]]
    path: str
    folder: Path


def fragments() -> list[str]:
    """The text in pieces."""
    return [TEXT[start : start + SIZE] for start in range(0, len(TEXT), SIZE)]


def free_port() -> int:
    """A port nothing listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def ours(folder: Path) -> Server:
    """The `serve` of this project."""
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
        for piece in fragments()
    ]
    around = [
        [{"type": kind} for kind in ("message_start", "content_block_start")],
        [{"type": kind} for kind in ("content_block_stop", "message_delta", "message_stop")],
    ]
    reply = {"content": [{"text": TEXT}], "events": [*around[0], *deltas, *around[1]]}
    scenario = {
        "title": "Answers the bench",
        "clauses": ["END-1"],
        "why": "a server that is slow makes every test of its users slow",
        "task": {"prompt": "bench"},
        "script": [{"reply": reply}],
    }
    script = folder / "bench.yaml"
    script.write_text(json.dumps(scenario))  # JSON is YAML
    command = [sys.executable, "-m", "harness", "serve", "--script", str(script), "--port"]
    return Server("loop-harness", lambda port: [*command, str(port)], "/w0/v1/messages", BENCH.parent)


def floor() -> Server:
    """Canned bytes."""
    return Server(
        "floor", lambda port: [sys.executable, str(BENCH / "floor.py"), str(port)], "/v1/messages", BENCH
    )


def aimock(folder: Path) -> Server | None:
    """The fastest peer known, on Node; None where npm cannot install it."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        return None
    done = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", AIMOCK], cwd=folder, capture_output=True, check=False
    )
    cli = folder / "node_modules" / AIMOCK / "dist" / "cli.js"
    if done.returncode or not cli.exists():
        return None
    fixtures = folder / "aimock.json"
    match = {"match": {"userMessage": "bench"}, "response": {"content": TEXT}}
    fixtures.write_text(json.dumps({"fixtures": [match]}))
    command = [node, str(cli), "-f", str(fixtures), "--chunk-size", str(SIZE), "--log-level", "silent", "-p"]
    return Server("aimock", lambda port: [*command, str(port)], "/v1/messages", folder)


def mocktopus(folder: Path) -> Server | None:
    """A peer in Python; None where pip cannot install it."""
    home = folder / "mocktopus"
    venv.create(home, with_pip=True)
    done = subprocess.run(
        [home / "bin" / "pip", "install", "-q", MOCKTOPUS], capture_output=True, check=False
    )
    cli = home / "bin" / "mocktopus"
    if done.returncode or not cli.exists():
        return None
    rule = {"type": "llm.openai", "when": {"model": "*"}, "respond": {"content": TEXT}}
    scenario = folder / "mocktopus.yaml"
    scenario.write_text(json.dumps({"version": 1, "rules": [rule]}))
    command = [str(cli), "serve", "-s", str(scenario), "--host", "127.0.0.1", "-p"]
    return Server("mocktopus", lambda port: [*command, str(port)], "/v1/messages", folder)
