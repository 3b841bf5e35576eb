"""A process for each turn: what it is told, what it tells, how it ends."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from harness.history import Ended, Lost, Noted, Overran, Raised, ToolEnded, ToolStarted
from harness.loops.command import Command
from harness.scenario.model import Reply, Step
from harness.turn import Behaviour, ToolSpec
from tests.loops.bad.playing import gone, sleepers
from tests.loops.commanding import commanding, ended, played, python

SILENT = "it ended with exit 0, having neither asked the provider nor told an outcome"


def test_a_process_tells_its_outcome_in_a_line():
    outcome, process = ended(python("good"))
    assert (outcome.status, outcome.shown) == ("completed", ["Hello."])
    assert (process.code, process.stderr, process.stdout[:13]) == (0, "another\n", "a line of log")


def test_a_process_tells_its_outcome_in_a_request():
    outcome, _ = ended(python("posts"))
    assert (outcome.status, outcome.shown, outcome.carry) == ("completed", ["Hello."], True)


def test_what_a_turn_carries_is_given_to_the_next():
    first, second = played(python("carries"), {}, {})
    assert [events[-2].detail for events in (first, second)] == ["None", "1"]


def test_a_process_has_surroundings_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("MY_API_KEY", "sk-real")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example")
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    outcome, _ = ended(python("surroundings", env={"EXTRA": "1"}))
    found = json.loads(outcome.detail)

    assert "sk-real" not in outcome.detail
    assert "proxy.example" not in outcome.detail
    assert "CLAUDE_CODE_USE_BEDROCK" not in found["env"]
    assert found["env"]["ANTHROPIC_API_KEY"] == "sk-ant-test"
    assert found["env"]["HARNESS_URL"].startswith("http://127.0.0.1:")
    assert (found["env"]["EXTRA"], found["files"]) == ("1", [])
    assert not Path(found["cwd"]).exists()

    outcome, _ = ended(python("surroundings", cwd=tmp_path))
    assert json.loads(outcome.detail)["cwd"] == str(tmp_path)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("says_nothing", Ended(returned="none")),
        ("does_nothing", Lost(reason=SILENT)),
        ("dies", Lost(reason="the loop's process ended: signal 9 (SIGKILL)")),
        ("leaves_within_the_answer", Ended(returned="none")),
    ],
)
def test_a_process_that_says_nothing_is_known_by_its_end(name, wanted):
    assert ended(python(name))[0] == wanted


def test_another_exit_code_stands_for_an_exception():
    outcome, process = ended(python("exits_3"))
    said = Raised(type="exit 3", bases=["exit 3", "exit"], message="no such luck", traceback="no such luck")
    assert (outcome, process.code) == (Ended(returned="raised", raised=said), 3)


def test_exit_10_says_that_the_turn_is_unsupported():
    [events] = played(python("exits_10"))
    assert events[0] == Noted(
        kind="unplayable", detail="the loop says that it cannot do this: there is no streaming here"
    )


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("malformed", "outcome: there is no field 'statos'; did you mean 'status'?"),
        ("posts_malformed", "outcome: status: one of completed, refused, truncated,"),
        ("tells_over_lines", "outcome: what was printed is not JSON on one line"),
        ("tells_half", "outcome: what was printed is not JSON on one line"),
        ("nests", "outcome: what was printed is not JSON on one line"),
    ],
)
def test_an_outcome_that_cannot_be_meant_is_the_adapters_fault(name, why):
    outcome, _ = ended(python(name))
    assert isinstance(outcome, Lost)
    assert outcome.reason.startswith(why)


def test_a_process_that_does_not_end_is_stopped_and_its_outcome_counts():
    [events] = played(python("lingers"))
    assert [type(event) for event in events[:2]] == [Ended, Noted]
    assert events[1].kind == "lingered"


def test_a_process_that_overruns_is_interrupted_and_nothing_it_says_then_counts():
    outcome, process = ended(python("cleans_up_when_interrupted"), deadline=0.5)
    assert outcome == Overran(deadline=0.5)
    assert (process.code, process.stdout) == (0, '{"outcome": {"status": "cancelled"}}\n')


def test_a_process_that_is_interrupted_by_the_scenario_tells_how_it_ended():
    async def play():
        async with commanding(python("cleans_up_when_interrupted")) as (driver, turn):
            events = []
            spec = turn()
            playing = asyncio.ensure_future(driver.play(spec, events.append))
            while not driver._place.asked(spec.api_key):
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            await driver.cancel(spec, "interrupt")
            await playing
            return events

    assert asyncio.run(play())[0].status == "cancelled"


def test_a_process_reaches_nobody_but_the_provider():
    async def play():
        async with commanding(python("asks_elsewhere")) as (driver, turn):
            events = []
            await driver.play(turn(), events.append)
            return events[0], [event for event in driver.seen if isinstance(event, Noted)]

    outcome, noted = asyncio.run(play())
    assert "403" in outcome.detail
    assert noted == [Noted(kind="elsewhere", detail="api.anthropic.com:443")]


def test_a_daemon_is_named_and_stopped():
    before = sleepers()

    async def play():
        async with commanding(python("forks_a_daemon")) as (driver, turn):
            counts = []
            for _ in range(2):
                events = []
                await driver.play(turn(), events.append)
                assert events[-1].left == ["sleep 10000"]
                counts.append((await driver.census()).children)
            return counts

    assert [len(children) for children in asyncio.run(play())] == [1, 2]
    assert gone(sleepers() - before)


def test_temporary_files_that_are_left_are_counted():
    async def play():
        async with commanding(python("leaves_a_file")) as (driver, turn):
            for _ in range(2):
                await driver.play(turn(), lambda event: None)
            return await driver.census()

    assert asyncio.run(play()).files == ["left", "left"]


def test_a_tool_whose_process_is_stopped_is_abandoned():
    call = Step(
        reply=Reply(stop_reason="tool_use", content=[{"type": "tool_use", "name": "slow", "input": {}}])
    )
    slow = ToolSpec(
        name="slow", description="Slow.", input_schema={"type": "object"}, answers=[Behaviour(hangs=True)]
    )
    [events] = played(python("hangs_in_a_tool"), {"tools": [slow], "deadline": 1.0}, script=[call])
    assert events[:2] == [ToolStarted(call=1, name="slow", input={}), Overran(deadline=1.0)]
    assert not [event for event in events if isinstance(event, ToolEnded) and not event.abandoned]


def test_a_process_that_cannot_be_started_is_lost(tmp_path):
    script = tmp_path / "no-shebang"
    script.write_bytes(b"\x7fELF not really")
    script.chmod(0o755)
    [events] = played(Command(words=(str(script),)))
    assert events == [Lost(reason=f"{script} cannot be started: Exec format error")]


@pytest.mark.parametrize("prompt", ["nothing\0", "half of \ud83d"])
def test_a_prompt_that_stands_in_no_command_is_told(prompt):
    [events] = played(Command(words=("echo", "{prompt}"), answer="stdout"), {"prompt": prompt})
    assert "echo cannot be started: its words or its environment cannot be written" in events[0].reason
