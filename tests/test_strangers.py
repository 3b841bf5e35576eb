"""Loops as other people write them: each wrong one is named for its fault, and no right one is blamed."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.chosen import find_cases
from harness.clock import SLACK
from harness.history import Finished
from harness.probe import Probe
from harness.runner import CaseResult, Runner

pytestmark = [
    # Clients that are never closed are the strangers' own affair.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

FOLDER = Path(__file__).parent / "strangers"
RIGHT = sorted(path.stem for path in (FOLDER / "right").glob("*.py"))

WRONG = {
    "attempts_are_steps": ("EXPECT", "cap/attempts"),
    "bad_request_tried_again": ("EXPECT", "fault/rejected"),
    "blank_bubble": ("SHOW-2", "tool/empty-end"),
    "blank_text_returned": ("HIST-6", "text/blank"),
    "cancel_asked_once": ("CANCEL-1", "cancel/between-requests"),
    "cancel_is_failure": ("CANCEL-4", "cancel/between-requests"),
    "cancel_leaves_call": ("CANCEL-5", "cancel/tool"),
    "cap_off_by_one": ("CAP-1", "cap/iterations"),
    "checkpoint_outlives_failure": ("CLEAN-1", "fault/rejected"),
    "container_forgotten": ("PAUSE-3", "pause/container"),
    "container_of_newest_reply": ("PAUSE-3", "pause/container-silent"),
    "cut_answer_continued_by_prefill": ("TRUNC-2", "truncate/text"),
    "cut_answer_is_whole": ("TRUNC-1", "truncate/text"),
    "cut_call_runs": ("TRUNC-4", "truncate/tool-partial"),
    "empty_arguments_are_none": ("TOOL-6", "tool/no-arguments"),
    "empty_results_skipped": ("TOOL-2", "tool/says-nothing"),
    "error_unmarked": ("TOOL-4", "tool/raises"),
    "first_block_indexed": ("END-2", "tool/empty-end"),
    "first_call_only": ("TOOL-2", "tool/parallel"),
    "first_text_only": ("SHOW-1", "text/two"),
    "known_blocks_rebuilt": ("HIST-4", "thinking/redacted"),
    "marked_for_ever": ("HIST-3", "tool/many-steps"),
    "nearest_tool_runs": ("TOOL-5", "tool/near-name"),
    "no_cap": ("CAP-1", "cap/iterations"),
    "nothing_called_sent_back": ("HIST-6", "tool/stop-without-call"),
    "nudges_uncounted": ("CAP-1", "thinking/still"),
    "odd_calls_lost": ("TOOL-2", "tool/dozen"),
    "one_message_per_result": ("TOOL-3", "tool/parallel"),
    "pause_is_final": ("PAUSE-1", "pause/no-tools"),
    "pictures_become_words": ("TOOL-3", "tool/result-image"),
    "preamble_is_answer": ("SHOW-6", "text/around-tools"),
    "preview_stays_on_retry": ("SHOW-3", "fault/stream-end"),
    "promise_at_the_cap": ("CAP-2", "cap/iterations-talking"),
    "refusal_stays": ("REFUSE-4", "refuse/partial"),
    "refusal_tried_again": ("REFUSE-1", "refuse/partial"),
    "refused_question_stays": ("REFUSE-4", "refuse/partial"),
    "reminder_first": ("TOOL-3", "tool/one"),
    "reply_edited": ("HIST-1", "text/around-tools"),
    "results_as_they_come": ("TOOL-3", "tool/parallel"),
    "results_under_wrong_ids": ("TOOL-2", "tool/one"),
    "runner_gives_up_quietly": ("CAP-2", "cap/iterations"),
    "second_tool_after_cancel": ("CANCEL-3", "cancel/tool-with-sibling"),
    "server_blocks_filtered": ("HIST-1", "tool/server-run"),
    "server_calls_answered": ("TOOL-7", "tool/mixed"),
    "session_of_strings": ("HIST-5", "tool/server-run"),
    "signature_dropped": ("HIST-4", "thinking/tool-turn"),
    "single_text_is_string": ("HIST-1", "text/cited-alone"),
    "slow_tool_costs_all": ("TOOL-9", "tool/slow"),
    "spinner_keeps_turning": ("CLEAN-3", "tool/one"),
    "stopped_call_said_done": ("TOOL-6", "cancel/tool-with-sibling"),
    "stream_usage_added": ("USAGE-1", "usage/tool-turn"),
    "system_grows": ("HIST-7", "tool/one"),
    "text_is_progress": ("CAP-1", "cap/iterations-talking"),
    "time_is_no_limit": ("CAP-3", "cap/wall-clock"),
    "tool_error_escapes": ("TOOL-4", "tool/raises"),
    "tools_gone_after_pause": ("PAUSE-3", "pause/then-tool"),
    "two_results_for_one_call": ("TOOL-2", "tool/result-blocks"),
    "unknown_name_subscripted": ("TOOL-5", "tool/unknown"),
    "unknown_stop_is_fine": ("UNKNOWN-1", "stop/unknown"),
    "usage_of_answers_only": ("USAGE-2", "usage/refused"),
    "usage_of_last_reply": ("USAGE-1", "usage/tool-turn"),
    "window_asks_again": ("WINDOW-1", "truncate/window"),
}
"""Loop to the clause that names its fault, and the scenario that shows it."""

SHOULD_NOT = {
    "one_message_per_result",
    "refused_question_stays",
    "stopped_call_said_done",
    "system_grows",
    "tool_error_escapes",
}
"""Loops whose fault the API takes, or that may be meant: they are warned of it."""

SAMPLE = [
    "cancel/tool",
    "fault/refused-connection",
    "pause/then-tool",
    "refuse/partial",
    "text/blank",
    "text/followed-up",
    "tool/call-without-stop",
    "tool/parallel",
    "truncate/text",
]
"""Scenarios that tell right from wrong most easily by mistake."""

ALLOWED = {
    # What its exception stands for is not declared.
    ("text_only", "UNKNOWN-1"),
    # The documentation's sample keeps the newest pause only, and loses what the one before found.
    ("only_newest_pause", "PAUSE-2"),
    ("only_newest_pause", "HIST-2"),
    # Its checkpoint says that a turn is under way, and no more.
    ("every_hook", "RESUME-1"),
    # It runs tools in its own thread, which a tool that hangs takes with it.
    ("every_hook", "TOOL-9"),
    # It calls a turn completed in which the model only thought, in place of asking for the answer.
    ("async_tools", "END-3"),
    # A time-out that a tool met itself is told in the same words as its own.
    ("async_tools", "TOOL-4"),
    # It leaves trying again to its client, which has not heard of the cancellation.
    ("async_tools", "CANCEL-2"),
}
"""Warnings that are deserved although the loop is right."""


SIGNS = {
    "status": "status=",
    "history": "history=",
    "usage": "usage",
    "publish": ".publish(",
    "done": "done=True",
    "report": ".report(",
    "checkpoint": "checkpoint_key",
    "tools": ".tools",
    "iterations": "limits.max_iterations",
    "wall_clock": "limits.wall_clock",
    "pauses": "limits.pauses",
    "cancel": ".cancelled()",
}
"""What a loop exposes, by what its source says: it saves the second the probe takes."""


def glance(path: Path) -> Probe:
    source = path.read_text(encoding="utf-8")
    streams = ".stream(" in source or '"stream": True' in source
    exposes = ["shown", *(name for name, sign in SIGNS.items() if sign in source)]
    return Probe(exposes=exposes, variants=("sse",) if streams else ("json",))


def played(path: Path, selectors: list[str], probe: Probe | None = None) -> list[CaseResult]:
    with Runner(f"{path}:loop", in_process=True, probe=probe) as runner:
        probe = runner.probe()
        assert probe.problem is None
        return runner.run_all([case for case in find_cases(selectors) if case.variant in probe.variants])


TRIES = 3
"""Some faults are seen by the clock only: a run in which the machine was late is played again."""
TOLD = ("fail", "error", "warn", "inconclusive")


def blamed(results: list[CaseResult]) -> set[tuple[str, str]]:
    return {(check.clause, check.grade) for one in results for check in one.checks}


def late(results: list[CaseResult]) -> bool:
    """Whether the machine was late in any of the runs, by more than is taken for punctual."""
    return any(
        isinstance(event, Finished) and event.lateness > SLACK for one in results for event in one.events
    )


def told(results: list[CaseResult]) -> str:
    """What was found instead, and what happened, line by line."""
    found = [f"{c.grade} {c.clause} {c.message}" for one in results for c in one.checks if c.grade in TOLD]
    return "\n".join([*found, *(repr(event)[:200] for one in results for event in one.events)])


def assert_nothing_is_said_of(name: str, results: list[CaseResult]) -> None:
    said = {
        (one.id, check.clause, check.grade, check.message)
        for one in results
        for check in one.checks
        if check.grade in ("fail", "error") or (check.grade == "warn" and (name, check.clause) not in ALLOWED)
    }
    assert said == set()


def test_every_stranger_is_judged() -> None:
    assert sorted(WRONG) == sorted(path.stem for path in (FOLDER / "wrong").glob("*.py"))
    assert len(RIGHT) >= 8


@pytest.mark.parametrize("name", sorted(WRONG))
def test_a_wrong_loop_is_told_its_fault(name: str) -> None:
    clause, scenario = WRONG[name]

    path = FOLDER / "wrong" / f"{name}.py"

    wanted = clause, "warn" if name in SHOULD_NOT else "fail"
    for _ in range(TRIES):
        results = played(path, [scenario], glance(path))
        if wanted in blamed(results) or not late(results):
            break

    assert wanted in blamed(results), told(results)


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_loop_is_not_blamed_where_that_is_easily_done(name: str) -> None:
    path = FOLDER / "right" / f"{name}.py"

    assert_nothing_is_said_of(name, played(path, SAMPLE, glance(path)))


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_loop_is_blamed_nowhere(name: str) -> None:
    assert_nothing_is_said_of(name, played(FOLDER / "right" / f"{name}.py", []))
