from __future__ import annotations

import pytest

from harness.wire.errors import error_body, error_type, stream_error


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"), (401, "authentication_error"), (402, "billing_error"),
        (403, "permission_error"), (404, "not_found_error"), (413, "request_too_large"),
        (429, "rate_limit_error"), (500, "api_error"), (504, "timeout_error"), (529, "overloaded_error"),
        (503, "api_error"), (418, "invalid_request_error"),
    ],
)  # fmt: skip
def test_each_status_has_its_type(status: int, kind: str) -> None:
    assert error_type(status) == kind


def test_the_body_has_the_recorded_shape_and_order() -> None:
    body = error_body(404, request_id="req_1", message="model: x")
    assert list(body) == ["type", "error", "request_id"]
    assert body["error"] == {"type": "not_found_error", "message": "model: x"}


def test_details_follow_the_message_and_are_null_on_server_errors() -> None:
    coded = error_body(404, request_id="r", details={"error_code": "thread_not_found"})["error"]
    assert list(coded) == ["type", "message", "details"]
    assert list(error_body(529, request_id="r")["error"].items()) == [
        ("details", None), ("type", "overloaded_error"), ("message", "Overloaded"),
    ]  # fmt: skip


def test_a_413_is_answered_in_front_of_the_api() -> None:
    assert error_body(413, request_id="r") == {
        "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}
    }


def test_an_error_in_a_stream_names_details_first() -> None:
    event = stream_error("overloaded_error", "Overloaded", "req_1")
    assert list(event["error"]) == ["details", "type", "message"]
    assert event["request_id"] == "req_1"
