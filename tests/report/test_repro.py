"""Scripts that show a fault without loop-harness."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.chosen import find_cases
from harness.history import Answered, Broken, Ended, RequestSeen, TurnBegan
from harness.report.kinds import View
from harness.report.model import LoopReport
from harness.report.repro import LINES, render, script
from harness.runner import Runner
from tests.report.samples import KEPT, LOST, events, loop, report, result, right, undriven, wrong

CLIENT = """
import json, os, urllib.request
def ask(messages):
    body = json.dumps({"model": "m", "messages": messages}).encode()
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        return json.load(answer)
messages = [{"role": "user", "content": "Look it up."}]
said = ask(messages)
answer = {"type": "tool_result", "tool_use_id": "toolu_01B", "content": "a thing"}
RIGHT
ask([*messages, {"role": "assistant", "content": said["content"]}, {"role": "user", "content": [answer]}])
"""


def run(text: str, client: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script with a client of its own, in a Python that knows nothing of this package."""
    (folder / "repro.py").write_text(text)
    (folder / "client.py").write_text(client)
    command = [sys.executable, "-I", "repro.py", sys.executable, "-I", "client.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=50, check=False)


def test_a_loop_with_the_fault_is_told_of_it_and_another_is_not(tmp_path: Path) -> None:
    text = script(loop(), result("tool/one", "json", LOST, KEPT))

    faulty = run(text, CLIENT.replace("RIGHT\n", ""), tmp_path)
    mended = run(text, CLIENT.replace("RIGHT", 'answer["tool_use_id"] = said["content"][1]["id"]'), tmp_path)

    assert (faulty.returncode, faulty.stderr) == (1, f"The fault: {LOST.message}\n")
    assert faulty.stdout.splitlines()[1:] == ["request 1: as recorded", "request 2: as recorded"]
    assert (mended.returncode, mended.stderr) == (0, "")
    assert "request 2: [{" in mended.stdout


def test_who_goes_on_where_the_fault_was_to_stop_does_not_have_it(tmp_path: Path) -> None:
    stopped = LOST.__class__(clause="PAUSE-1", level="MUST", grade="fail", message="It ended.", request=2)
    text = script(loop(), result("tool/one", "json", stopped))
    client = CLIENT.replace("RIGHT\n", "")

    assert run(text, client, tmp_path).returncode == 1
    assert run(text, f"{client}\nask(messages)\n", tmp_path).returncode == 0


def test_of_a_thread_it_is_told_what_was_sent_and_not_what_is_kept(tmp_path: Path) -> None:
    told = events()
    second = told[7]
    assert isinstance(second, RequestSeen)
    answer = {"type": "tool_result", "tool_use_id": "toolu_01B", "content": "a thing"}
    second.body.update(previous_message_id="msg_1", messages=[{"role": "user", "content": [answer]}])
    text = script(loop(), result("tool/one", "json", LOST, KEPT, events=told))
    client = CLIENT.partition("RIGHT")[0] + 'ask([{"role": "user", "content": [answer]}])'

    assert run(text, client, tmp_path).returncode == 1


def test_what_requests_do_not_show_is_left_to_the_reader(tmp_path: Path) -> None:
    by_word = LOST.__class__(
        clause="SHOW-1", level="MUST", grade="fail", message="It was not shown.", evidence="outcome"
    )
    text = script(loop(), result("tool/one", "json", by_word))

    done = run(text, CLIENT.replace("RIGHT\n", ""), tmp_path)

    assert done.returncode == 2
    assert done.stderr.startswith("It asked as recorded; whether the fault is there shows in what came of")
    assert done.stderr.endswith(": It was not shown.\n")
    assert len(text.splitlines()) <= LINES


def test_a_script_tells_what_is_wrong_and_what_to_do_in_forty_lines() -> None:
    text = script(loop(), result("tool/one", "json", LOST, KEPT), "tool-one.py")

    assert text.startswith("# TOOL-2: The call toolu_01A has no result")
    assert "# Expected: One result for toolu_01A in request 2.\n" in text
    assert '# Tools: look_up returns "a thing"\n' in text
    assert "# The user says: Look it up.\n" in text
    assert "# python3 tool-one.py COMMAND... runs COMMAND" in text
    assert len(text.splitlines()) <= LINES
    assert "harness" not in text.replace("Found by loop-harness", "")


def test_however_much_is_wrong_it_is_forty_lines_of_python() -> None:
    checks = [
        LOST.__class__(clause=f"TOOL-{n}", level="MUST", grade="fail", message="no\n'''\"\"\"\\ " * 200)
        for n in range(1, 11)
    ]
    asked = [
        RequestSeen(request=n, body={"messages": [{"role": "user", "content": "x"}]}) for n in range(1, 99)
    ]

    text = script(loop(), result("a/b", "json", *checks, events=[*events(), *asked]))

    assert len(text.splitlines()) <= LINES
    compile(text, "repro.py", "exec")


def test_each_failure_whose_events_are_stored_has_a_script() -> None:
    assert list(render(report(wrong()), View())) == ["tool-one-json.py", "tool-one-sse.py", "end-odd-json.py"]
    several = report(wrong("a b"), right(), undriven())
    assert next(iter(render(several, View()))) == "a-b-tool-one-json.py"
    assert render(report(loop("mine", result("a/b", "json", LOST, events=[]))), View()) == {}


@pytest.mark.parametrize(
    ("answer", "more", "told"),
    [
        (Answered(request=1, kind="fault", status=529, body={"type": "error"}), [], "HTTP Error 529"),
        (Answered(request=1, kind="fault", status=0), [], "RemoteDisconnected"),
        (
            Answered(request=1, kind="reply", body={"type": "message", "content": []}),
            [Broken(request=1, by="script", bytes=9)],
            "JSONDecodeError",
        ),
    ],
)
def test_a_provider_that_misbehaves_does_so_again(
    answer: Answered, more: list[Broken], told: str, tmp_path: Path
) -> None:
    seen = [TurnBegan(prompt="Go."), RequestSeen(request=1, body={"messages": []}), answer, *more, Ended()]
    check = LOST.__class__(clause="FAULT-1", level="MUST", grade="fail", message="It gave up.", request=1)
    text = script(loop(), result("a/b", "json", check, events=seen))

    done = run(text, CLIENT.partition("messages = [")[0] + "ask([])", tmp_path)

    assert told in done.stderr
    assert done.stderr.endswith("The fault: It gave up.\n")


def test_a_stream_is_served_as_one(tmp_path: Path) -> None:
    cases = find_cases(["text/one[sse]"])
    with Runner("harness.loops.reference:loop") as runner:
        [played] = runner.run_all(cases)
    played.checks = [
        LOST.__class__(clause="END-1", level="MUST", grade="fail", message="It asked.", request=1)
    ]
    played.grade = "fail"
    text = script(LoopReport(name="mine"), played)
    client = CLIENT.partition("messages = [")[0].replace("json.load(answer)", "print(answer.read().decode())")

    done = run(text, client + "ask([])", tmp_path)

    assert done.stdout.count("event: content_block_delta") >= 1
    assert "event: message_stop\n" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")
