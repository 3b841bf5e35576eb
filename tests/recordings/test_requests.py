"""The rules against recordings of the real API: what it answered is accepted, what it refused is refused."""

from __future__ import annotations

import pytest

from harness.provider.request import Request
from harness.wire.models import canonical_name
from tests.provider.asking import HEADERS, findings
from tests.recordings.cassettes import Exchange, each_of, exchanges, params

JUDGED = ("/v1/messages", "/v1/messages/count_tokens")
CREDENTIALS = {"x-api-key", "authorization"}


def judged(*, accepted: bool) -> list[Exchange]:
    return [
        one
        for one in exchanges()
        if one.method == "POST" and one.path in JUDGED and (one.status == 200) is accepted
    ]


def asked(exchange: Exchange) -> dict[str, str]:
    """The headers of a request, with those its recorder left out."""
    recorded = {name: value for name, value in exchange.request_headers.items() if name not in CREDENTIALS}
    return HEADERS | recorded


@each_of(judged(accepted=True))
def test_a_request_that_was_answered_is_accepted(exchange: Exchange) -> None:
    found = findings(exchange.request, path=exchange.path, query=exchange.query, **asked(exchange))
    assert [finding.message for finding in found if finding.verified] == []


@pytest.mark.parametrize("exchange", params(judged(accepted=False)))
def test_a_request_that_was_refused_is_refused_in_the_same_words(exchange: Exchange) -> None:
    error = exchange.answered["error"]
    if error["type"] not in ("invalid_request_error", "not_found_error"):
        pytest.skip("the request is not what was wrong")
    found = findings(exchange.request, path=exchange.path, query=exchange.query, **asked(exchange))
    first = next(finding for finding in found if finding.verified)
    assert first.failure.status == exchange.status
    assert first.message == error["message"]


@each_of(judged(accepted=True))
def test_a_recorded_request_is_read_whole(exchange: Exchange) -> None:
    request = Request(method="POST", path=exchange.path, headers={}, raw=exchange.request)
    request.decode()
    assert request.not_json is None
    assert request.endpoint in ("messages", "count_tokens")
    assert request.wants_stream is exchange.is_stream


def whole() -> list[Exchange]:
    return [
        one for one in judged(accepted=True) if isinstance(one.answered, dict) and "model" in one.answered
    ]


@each_of(whole())
def test_the_model_that_answers_has_its_whole_name(exchange: Exchange) -> None:
    name = exchange.asked["model"]
    # One recording of 2025 answers under the alias itself.
    assert exchange.answered["model"] in (name, canonical_name(name))
