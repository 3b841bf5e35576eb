"""Services judged as their users see them: started here, asked by HTTP, hung up on."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.chosen import find_cases
from harness.history import Cancelled, Ended, RequestSeen
from harness.loops.reading import parse_answer
from harness.loops.service import Service, free_port
from harness.runner import CaseResult, Runner
from harness.turn import Declaration
from tests.commanding import alive

PROGRAM = str(Path(__file__).with_name("chat_service.py"))
BODY = '{"message": "{prompt}", "conversation": "{conversation}"}'
TELLING = ("truncate/text", "refuse/partial", "fault/forbidden", "pause/no-tools", "text/followed-up")


def service(way: str, **options: object) -> Service:
    answer = "json:$.reply" if way.startswith("json") else "sse:$.text"
    made = {
        "where": "POST http://127.0.0.1:{port}/chat",
        "answer": parse_answer(answer),
        "body": BODY,
        "words": (sys.executable, PROGRAM, "{port}", way),
    }
    return Service(**{**made, **options})  # type: ignore[arg-type]


def judged(target: Service, *selectors: str, **options: object) -> dict[str, CaseResult]:
    declared = Declaration(tools="own", own_tool="look_up")
    with Runner(target, declaration=declared, **options) as runner:  # type: ignore[arg-type]
        probe = runner.probe()
        assert probe.problem is None
        cases = [case for case in find_cases(selectors) if case.variant in probe.variants]
        return {result.scenario: result for result in runner.run_all(cases)}


def broken(result: CaseResult) -> set[str]:
    return {check.clause for check in result.checks if check.grade == "fail"}


@pytest.fixture(scope="module")
def right() -> dict[str, CaseResult]:
    return judged(service("right"), *TELLING, "cancel/between-requests", "cancel/start")


def test_a_service_that_tells_its_users_how_it_ended_is_right(right: dict[str, CaseResult]) -> None:
    assert {name: broken(result) for name, result in right.items() if broken(result)} == {}
    decided = {check.clause for result in right.values() for check in result.checks if check.grade == "pass"}
    assert decided >= {"TRUNC-1", "REFUSE-2", "FAULT-9", "PAUSE-1", "SHOW-1", "HIST-8", "CANCEL-1"}


def test_a_service_that_ends_all_its_answers_alike_is_caught() -> None:
    found = judged(service("json-alike"), *TELLING)

    assert {name: broken(result) & {"TRUNC-1", "REFUSE-2", "FAULT-9"} for name, result in found.items()} == {
        "truncate/text": {"TRUNC-1"},
        "refuse/partial": {"REFUSE-2"},
        "fault/forbidden": {"FAULT-9"},
        "pause/no-tools": set(),
        "text/followed-up": set(),
    }


def test_a_stream_that_stays_open_is_over_with_the_event_that_is_named() -> None:
    results = judged(service("open", until="end"), "text/one", "truncate/text")
    assert {name: broken(result) for name, result in results.items() if broken(result)} == {}
    [ended] = [event for event in results["text/one"].events if isinstance(event, Ended)]
    assert ("end", "open") in (ended.look or [])
    assert all(result.seconds < 4 for result in results.values())


@pytest.mark.slow
def test_a_stream_that_never_says_it_is_over_is_told_once() -> None:
    with Runner(service("open"), declaration=Declaration(tools="own", own_tool="look_up")) as runner:
        problem = runner.probe().problem
    assert problem is not None
    assert "stayed open, and nothing in it said that it was over" in problem
    assert "--until" in problem


@pytest.mark.parametrize(("way", "wrong", "right"), [
    ("json", "json:$.text", "json:$.reply"),
    ("right", "sse:$.txt", "sse:$.text"),
])  # fmt: skip
def test_a_place_that_holds_no_text_is_no_fault_of_the_service(way: str, wrong: str, right: str) -> None:
    with Runner(service(way, answer=parse_answer(wrong))) as runner:
        problem = runner.probe().problem

    assert problem == (
        f"--answer names a place that holds no text; the answer is at another: --answer '{right}'"
    )


def test_users_cancel_by_hanging_up(right: dict[str, CaseResult]) -> None:
    events = right["cancel/between-requests"].events

    assert [event.via for event in events if isinstance(event, Cancelled)] == ["hangup"]
    assert next(event for event in events if isinstance(event, Ended)).look is None


def test_every_request_has_the_prompt_with_the_word_it_is_known_by(right: dict[str, CaseResult]) -> None:
    requests = [event for event in right["text/followed-up"].events if isinstance(event, RequestSeen)]

    tokens = {event.body["messages"][0]["content"].rpartition("(")[2] for event in requests}
    assert len(tokens) == 1
    assert next(iter(tokens)).startswith("lh-")


@pytest.mark.slow
def test_prompts_stay_as_they_are_where_cases_come_one_by_one() -> None:
    found = judged(service("right", serial=True), "text/one")

    [request] = [event for event in found["text/one"].events if isinstance(event, RequestSeen)]
    assert request.body["messages"][-1]["content"] == found["text/one"].events[1].prompt  # type: ignore[union-attr]
    assert "lh-" not in request.body["messages"][-1]["content"]


@pytest.mark.slow
def test_several_services_are_started_for_several_jobs() -> None:
    found = judged(service("right", several=True), "truncate", "pause", jobs=2)

    assert {name: broken(result) for name, result in found.items() if broken(result)} == {}
    assert len(found) > 10


@pytest.mark.slow
def test_a_service_that_does_not_mind_being_hung_up_on_is_not_judged_by_that() -> None:
    found = judged(service("deaf"), "cancel/between-requests")

    checks = {check.clause: check.grade for check in found["cancel/between-requests"].checks}
    assert checks["CANCEL-1"] == "unsupported"


@pytest.mark.slow
def test_a_service_that_dies_is_told_and_started_again() -> None:
    found = judged(service("mortal"), "refuse/partial", "truncate/text")

    assert found["refuse/partial"].grade == "error"
    assert "exit 3, while a user waited for an answer" in found["refuse/partial"].reason
    assert found["truncate/text"].grade == "pass"


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise SystemExit('no such luck')", "exit 1\nno such luck"),
        ("import http.server as h, sys; h.test(h.SimpleHTTPRequestHandler, port=int(sys.argv[1]))", "never"),
    ],
)
def test_what_keeps_a_service_from_being_driven_is_told(code: str, said: str) -> None:
    words = (sys.executable, "-c", code, "{port}")
    with Runner(service("right", words=words)) as runner:
        problem = runner.probe().problem or ""

    assert said in problem or (said == "never" and "answered without asking the provider" in problem)


def test_a_port_that_is_taken_is_told(taken: int) -> None:
    with Runner(service("right", where=f"POST http://127.0.0.1:{taken}/chat")) as runner:
        assert "something answers at" in (runner.probe().problem or "")


def test_nobody_there_is_told() -> None:
    there = service("right", where=f"POST http://127.0.0.1:{free_port()}/chat", words=())
    with Runner(there) as runner:
        assert "nothing answers at" in (runner.probe().problem or "")


def test_a_service_ends_with_its_run(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    start = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); raise SystemExit('enough')"
    with Runner(service("right", words=(sys.executable, "-c", start))) as runner:
        runner.probe()

    assert not alive(int(note.read_text()))
    assert os.getpid() != int(note.read_text())
