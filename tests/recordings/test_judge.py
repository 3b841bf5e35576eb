"""Real recordings are judged. Whatever is found in them is listed here, with the reason why it is a fault."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from harness.cassettes.find import find
from harness.cassettes.verdicts import Judged, judge_cassette
from tests.recordings.cassettes import ABSENT, folder

FINDINGS = {
    # The `text` blocks of a reply with a web search come with citations, and go back without them.
    "test_anthropic_web_search_tool.yaml:237": "fail HIST-1",
    # The reply had no text; a text of one blank is sent back in front of its calls.
    "test_tools.yaml:128": "warn HIST-6",
    # A call and its result that the client made up stand for having loaded tools.
    "test_anthropic_deferred_capability_without_tool_search_across_models[claude-haiku-4-5].yaml:104": (
        "warn HIST-1"
    ),
    "test_anthropic_to_google_deferred_capability_history_replay.yaml:111": "warn HIST-1",
}
pytestmark = pytest.mark.skipif(folder() is None, reason=ABSENT)


@cache
def judged() -> list[Judged]:
    return [judge_cassette(cassette) for cassette in find([folder() or Path()]).read()]


def test_every_recording_is_read() -> None:
    files = map(str, (folder() or Path()).rglob("*.yaml"))

    assert sorted(str(one.path) for one in judged()) == sorted(files)


def test_every_finding_is_known() -> None:
    found = {
        one.where(check).rpartition("/")[2]: f"{check.grade} {check.clause}"
        for one in judged()
        for check in one.checks
        if check.grade in ("error", "fail", "warn")
    }

    assert found == FINDINGS


def test_what_is_open_is_only_where_a_recording_ends() -> None:
    left = [check for one in judged() for check in one.checks if check.grade == "inconclusive"]

    assert {check.clause for check in left} == {"TOOL-1"}
    assert all(check.message.startswith("nothing of the conversation was recorded after") for check in left)


def test_most_of_the_clauses_that_show_on_the_wire_are_decided() -> None:
    decided = {check.clause for one in judged() for check in one.checks if check.grade in ("pass", "fail")}

    assert decided >= {"HIST-1", "HIST-2", "HIST-3", "HIST-4", "PAUSE-1", "PAUSE-2", "PAUSE-3", "TOOL-1"}
