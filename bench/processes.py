"""What the harness adds to a loop that is a process: per scenario, above what the process takes by itself.

The same process plays the same turn on its own, two side by side, against the same provider; then in cases of
the harness, with `--jobs 2`. Both are taken in rounds, so that a busy moment hits both.

    python bench/processes.py [ROUNDS]
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

JOBS = 2
EACH = 10
"""Cases, and processes on their own, in a round."""


def play() -> None:
    """The loop: one request, one outcome."""
    turn = json.loads(sys.stdin.readline())
    place = urlsplit(os.environ["ANTHROPIC_BASE_URL"])
    headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01"}
    headers["content-type"] = "application/json"
    body = {name: turn[name] for name in ("model", "max_tokens", "system", "messages")}
    connection = http.client.HTTPConnection(place.netloc)
    connection.request("POST", f"{place.path}/v1/messages", json.dumps(body), headers)
    reply = json.loads(connection.getresponse().read())
    text = "".join(block.get("text", "") for block in reply["content"])
    print(json.dumps({"outcome": {"status": "completed", "shown": [text]}}))


def main(rounds: int) -> None:
    """Measure, and print the best of the rounds."""
    from harness.chosen import find_cases
    from harness.fake import FakeProvider
    from harness.loops.command import Command
    from harness.runner import Runner

    words = (sys.executable, str(Path(__file__).resolve()), "play")
    [case] = find_cases(["text/one[json]"])
    alone: list[float] = []
    judged: list[float] = []
    busy: list[float] = []
    provider = FakeProvider.start()
    with Runner(Command(words=words), jobs=JOBS) as runner:
        problem = runner.probe().problem
        assert problem is None, problem
        for _ in range(rounds):
            alone.append(by_itself(words, provider))
            began, used = time.perf_counter(), time.process_time()
            grades = {result.grade for result in runner.run_all([case] * EACH)}
            assert grades == {"pass"}, grades
            judged.append((time.perf_counter() - began) * JOBS / EACH)
            busy.append((time.process_time() - used) / EACH)
    provider.close()
    own, whole = min(alone), min(judged)  # what others do on the machine only adds
    print(f"{'the process by itself':<32}{own * 1000:8.1f} ms")
    print(f"{'a scenario, --jobs 2':<32}{whole * 1000:8.1f} ms")
    print(f"{'added by the harness':<32}{(whole - own) * 1000:8.1f} ms")
    print(f"{'the harness itself at work':<32}{statistics.median(busy) * 1000:8.1f} ms of a processor")


def by_itself(words: tuple[str, ...], provider: Any) -> float:
    """Seconds a process takes, with as many side by side as the harness has."""
    said = [{"role": "user", "content": "Hello"}]
    line = {"model": "claude-opus-4-6", "max_tokens": 100, "system": "", "messages": said}
    told = (json.dumps(line) + "\n").encode()
    env = {**os.environ, "ANTHROPIC_BASE_URL": provider.url, "ANTHROPIC_API_KEY": provider.api_key}

    def one(_: int) -> None:
        provider.reply("Hello.")
        subprocess.run(  # a session of its own is scheduled by itself, so this one gets one as well
            words, input=told, env=env, check=True, capture_output=True, start_new_session=True
        )

    began = time.perf_counter()
    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(one, range(EACH)))
    return (time.perf_counter() - began) * JOBS / EACH


if __name__ == "__main__":
    if sys.argv[1:] == ["play"]:
        play()
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 7)
