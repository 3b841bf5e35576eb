"""How long `serve` takes from its start to its first answer (the aim: at most 100 ms)."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import time

from _measure import compare, environment, python, report

BODY = json.dumps({
    "model": "claude-opus-4-6", "max_tokens": 64, "messages": [{"role": "user", "content": "Hi"}],
})  # fmt: skip
HEADERS = {"content-type": "application/json", "x-api-key": "any", "anthropic-version": "2023-06-01"}
PATIENCE = 10.0


def first_answer(env: dict[str, str]) -> float:
    """Seconds from spawning `serve` to the end of its first reply."""
    port = free_port()
    began = time.perf_counter()
    command = "import sys; from loop_harness.cli import main; sys.exit(main())"
    server = subprocess.Popen(
        [sys.executable, "-c", command, "serve", "--port", str(port)], env=env, stdout=subprocess.DEVNULL
    )
    try:
        while not answers(port):
            if time.perf_counter() - began > PATIENCE or server.poll() is not None:
                raise SystemExit("serve does not answer")
            time.sleep(0.001)
        return time.perf_counter() - began
    finally:
        server.terminate()
        server.wait()


def answers(port: int) -> bool:
    """Whether a request gets its reply."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("POST", "/w0/v1/messages", BODY, HEADERS)
        reply = connection.getresponse()
        return reply.status == 200 and bool(json.loads(reply.read())["content"])
    except OSError:
        return False
    finally:
        connection.close()


def free_port() -> int:
    """A port nobody uses just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    env = environment()
    report(
        compare(
            {
                "python -c pass": python("pass", env),
                "import asyncio": python("import asyncio", env),
                "serve, to its first answer": lambda: first_answer(env),
            }
        )
    )
