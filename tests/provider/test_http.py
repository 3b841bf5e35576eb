from __future__ import annotations

import gzip

import pytest

from harness.provider import http
from harness.provider.headers import for_error, for_reply
from harness.provider.http import RefusedError
from harness.provider.routes import Route, route


def test_a_head_is_one_line_a_header_whatever_a_scenario_holds() -> None:
    head = http.head(200, {"x-note": "a\r\nx-forged: b\u2028é"}, 3)
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert head.endswith(b"content-length: 3\r\n\r\n")
    assert b"\r\nx-forged" not in head


def test_a_written_length_is_kept() -> None:
    assert http.head(200, {"content-length": "9"}, 3).count(b"content-length") == 1


def test_statuses_of_the_api_have_a_phrase() -> None:
    assert http.head(529, {}, 0).startswith(b"HTTP/1.1 529 Overloaded\r\n")
    assert http.head(799, {}, 0).startswith(b"HTTP/1.1 799 Unknown\r\n")


def test_each_piece_is_a_chunk_and_nothing_is_none() -> None:
    assert http.chunks([b"a", b"", b"0123456789abcdef"]) == b"1\r\na\r\n10\r\n0123456789abcdef\r\n"


def test_bodies_are_decompressed_up_to_the_limit() -> None:
    assert http.decompress(gzip.compress(b"x"), "GZIP") == b"x"
    assert http.decompress(b"x", "identity") == b"x"
    with pytest.raises(RefusedError) as caught:
        http.decompress(gzip.compress(b"\0" * (http.MAX_BODY + 1)), "gzip")
    assert caught.value.status == 413


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/v1/messages", Route(None, None, "/v1/messages")),
        ("/w12/v1/messages", Route(None, "w12", "/v1/messages")),
        ("/w1/v1/v1/messages/count_tokens", Route(None, "w1", "/v1/messages/count_tokens")),
        ("/s/sk-ant-x/v1/models", Route("sk-ant-x", None, "/v1/models")),
        ("/w1", Route(None, "w1", "/")),
        ("/word/v1/messages", Route(None, None, "/word/v1/messages")),
        ("/", Route(None, None, "/")),
    ],
)
def test_paths_are_taken_apart(path: str, found: Route) -> None:
    assert route(path) == found


def test_only_replies_tell_the_limits_of_the_rate() -> None:
    assert "anthropic-ratelimit-requests-limit" in for_reply("req_1", stream=False)
    assert not [name for name in for_error("req_1") if "ratelimit" in name]
    assert for_error("req_1", retryable=False)["x-should-retry"] == "false"
