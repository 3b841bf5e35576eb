"""Real recordings beside the installed client and the provider of today."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from harness.cassettes.drift import Drift, drift_of
from harness.cassettes.find import find
from tests.recordings.cassettes import ABSENT, folder

pytestmark = pytest.mark.skipif(folder() is None, reason=ABSENT)

BEHIND = {
    # From before the API counted fetched pages beside searches, which the client's types ask for.
    "test_anthropic_mcp_servers_stream.yaml": "message_delta: usage.server_tool_use.web_fetch_requests",
    "test_anthropic_web_search_tool_stream.yaml": "message_delta: usage.server_tool_use.web_fetch_requests",
    "test_pause_turn_web_search_vcr.yaml": "usage.server_tool_use.web_fetch_requests",
}


@cache
def drifts() -> list[Drift]:
    return [drift_of(cassette) for cassette in find([folder() or Path()]).read()]


def test_no_reply_has_a_key_that_the_provider_does_not_send() -> None:
    unknown = [
        f"{drift.where(each)}: {each.text}" for drift in drifts() for each in drift.findings
        if each.kind == "unknown"
    ]  # fmt: skip

    assert unknown == []
    assert sum(drift.replies for drift in drifts()) > 0


def test_what_the_types_of_the_client_do_not_take_is_known() -> None:
    found = {
        drift.path.name: each.text.rpartition(": ")[0]
        for drift in drifts()
        for each in drift.findings
        if each.kind == "sdk"
    }

    assert found == BEHIND
