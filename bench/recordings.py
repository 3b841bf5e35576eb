"""What reading, judging and promoting a long recording costs, and how that grows.

A conversation of tools says everything again in each request, so that twice as many requests are four times
as many bytes. What counts is the ratio: time and memory should grow with the bytes, and no faster.

    python bench/recordings.py [REQUESTS]      # 300, some 80 MB, beside half as many
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
WORDS = "word " * 90


def main() -> None:
    """Measure each size in a process of its own, and print the ratios."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    with tempfile.TemporaryDirectory() as folder:
        found = {count: measured(Path(folder), count) for count in (most // 2, most)}
    half, whole = found.values()
    print(f"{'':12}{most // 2:>10} req {most:>10} req {'ratio':>8}")
    units = {"bytes": "MB", "read": "s", "judge": "s", "promote": "s", "memory": "MB"}
    for name, unit in units.items():
        ratio = whole[name] / half[name]
        print(f"{name:12}{half[name]:10.2f} {unit:3} {whole[name]:10.2f} {unit:3} {ratio:8.1f}")


def measured(folder: Path, count: int) -> dict[str, float]:
    """The figures of a recording with so many requests."""
    path = folder / f"{count}.json"
    path.write_text(json.dumps({"version": 1, "interactions": interactions(count)}))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, __file__, "--one", str(path)]
    run = subprocess.run(command, env=environment, check=True, capture_output=True)
    figures: dict[str, float] = json.loads(run.stdout)
    return {"bytes": path.stat().st_size / 1e6, **figures}


def interactions(count: int) -> list[dict[str, Any]]:
    """A turn of so many requests: each reply thinks, says something and calls a tool."""
    messages: list[Any] = [{"role": "user", "content": "Do this, step by step."}]
    found = []
    for number in range(count):
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "step", "input": {"number": number}}
        thought = {"type": "thinking", "thinking": f"{number} {WORDS}", "signature": "c2lnbmVk"}
        content = [thought, {"type": "text", "text": f"Step {number} is next: {WORDS}"}, call]
        last = number == count - 1
        reply = {
            "content": [content[1]] if last else content,
            "stop_reason": "end_turn" if last else "tool_use",
        }
        found.append(
            interaction(messages, {"id": f"msg_{number}", "type": "message", "role": "assistant", **reply})
        )
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": f"{number} {WORDS}"}
        messages += [{"role": "assistant", "content": content}, {"role": "user", "content": [result]}]
    return found


def interaction(messages: list[Any], reply: dict[str, Any]) -> dict[str, Any]:
    """As vcrpy keeps it."""
    tools = [{"name": "step", "input_schema": {"type": "object"}}]
    body = {"model": "claude-opus-4-6", "max_tokens": 100, "tools": tools, "messages": messages}
    said = {"model": "claude-opus-4-6", "usage": {"input_tokens": 1, "output_tokens": 1}, **reply}
    return {
        "request": {
            "method": "POST",
            "uri": "https://api.anthropic.com/v1/messages",
            "headers": {},
            "body": json.dumps(body),
        },
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"content-type": ["application/json"]},
            "body": {"string": json.dumps(said)},
        },
    }


def one(path: Path) -> None:
    """Read, judge and promote one recording, and print the figures."""
    from harness.cassettes.conversations import told_apart
    from harness.cassettes.exchanges import talk_of
    from harness.cassettes.promote import promote
    from harness.cassettes.read import read
    from harness.cassettes.rounds import of_conversation
    from harness.cassettes.verdicts import judge_cassette

    figures: dict[str, float] = {}
    began = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal began
        now = time.perf_counter()
        figures[name], began = now - began, now

    cassette = read(path)
    lap("read")
    judge_cassette(cassette)
    lap("judge")
    [conversation] = told_apart(talk_of(cassette).exchanges)
    promote(of_conversation(conversation), "a recording", "x")
    lap("promote")
    figures["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1e3 if sys.platform == "linux" else 1e6
    )
    print(json.dumps(figures))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(Path(sys.argv[2]))
    else:
        main()
