"""No report tells a secret."""

from __future__ import annotations

import pytest

from harness.history import RequestSeen
from harness.report.clean import Cleaner
from harness.report.kinds import KINDS, rendered
from tests.report.samples import LOST, events, loop, report, result

KEY = "sk-ant-api03-" + "Ab3" * 10
OWN = "hunter2-hunter2-hunter2"


def leaky() -> object:
    told = events(f"My key is {KEY}, and {OWN}.")
    request = told[2]
    assert isinstance(request, RequestSeen)
    request.body["mcp_servers"] = [{"url": "https://example.com", "authorization_token": "abc"}]
    request.headers = {"authorization": "<bearer token>", "x-own": KEY}
    broken = LOST.__class__(clause="TOOL-2", level="MUST", grade="fail", message=f"It said {KEY}.", diff=OWN)
    return result("tool/one", "json", broken, events=told, reason=KEY)


@pytest.mark.parametrize("kind", KINDS)
def test_keys_reach_no_report(kind: str) -> None:
    clean = Cleaner({"MY_SECRET": OWN}).result(leaky())  # type: ignore[arg-type]
    text = rendered(kind, report(loop("mine", clean)))
    told = text if isinstance(text, str) else "".join(text.values())

    assert told
    assert KEY not in told
    assert OWN not in told
    assert '"abc"' not in told


def test_what_is_no_secret_stays() -> None:
    clean = Cleaner({"MY_SECRET": OWN}).result(leaky())  # type: ignore[arg-type]

    request = clean.events[2]
    assert isinstance(request, RequestSeen)
    assert request.headers == {"authorization": "<bearer token>", "x-own": "REDACTED"}
    assert clean.checks[0].message == "It said REDACTED."
    assert clean.checks[0].diff == "REDACTED"


def test_a_result_without_secrets_is_left_alone() -> None:
    one = result("tool/one", "json", LOST)

    assert Cleaner({}).result(one) is one
