"""A long conversation: three hundred requests that grow, thirty megabytes in all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
CODE = """
import json, resource, sys, time
from pathlib import Path
from harness.cassettes.model import Interaction, Piece, Request, Response
from harness.cassettes.player import Player
from harness.cassettes.read import read
from harness.cassettes.recorder import Recorder
from harness.cassettes.redact import Redactor

path, count = Path(sys.argv[1]), int(sys.argv[2])
words = (Path(sys.argv[3]) / "docs" / "scenarios.md").read_text().split()
headers = [("content-type", "application/json"), ("x-api-key", "sk-ant-api03-0123456789abcdef")]

def said(n):
    return {"role": ("user", "assistant")[n % 2], "content": " ".join(words[n : n + 56])}

def interaction(number):
    messages = [said(n) for n in range(2 * number + 1)]
    body = json.dumps({"model": "m", "max_tokens": 5, "messages": messages}).encode()
    answer = json.dumps({"type": "message", "content": [{"type": "text", "text": messages[-1]["content"]}]})
    request = Request(method="POST", uri="https://x.test/v1/messages", headers=headers, body=body)
    pieces = [Piece(0.0, len(answer.encode()))]
    response = Response(status=200, headers=headers[:1], body=answer.encode(), head_at=0.1, pieces=pieces)
    return Interaction(request=request, response=response)

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

before, began, size = peak(), time.process_time(), 0
with Recorder(path, Redactor(known={}), live=True) as recorder:
    for number in range(count):
        made = interaction(number)
        size += len(made.request.body)
        recorder.add(made)
    recorder.keep()
player = Player(read(path))
for number in range(count):
    asked = interaction(number).request
    player.ask("POST", "/v1/messages", asked.headers, asked.body)
found = [finding.message for finding in player.finish()]
took, memory = time.process_time() - began, peak() - before
print(json.dumps({"size": size, "seconds": took, "memory": memory, "found": found}))
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_it_is_recorded_and_replayed_in_seconds_and_with_memory_of_its_own_size(tmp_path: Path) -> None:
    told = {}
    for count in (100, 300):
        arguments = [sys.executable, "-c", CODE, str(tmp_path / "x.yaml"), str(count), str(ROOT)]
        told[count] = json.loads(subprocess.run(arguments, check=True, capture_output=True).stdout)

    assert told[300]["size"] > 30_000_000
    assert told[300]["found"] == []
    assert told[300]["seconds"] < 30
    assert told[300]["memory"] < 8 * told[300]["size"]
    # Nine times the bytes: linear, with room for a machine that does other things.
    assert told[300]["seconds"] < 30 * told[100]["seconds"]
