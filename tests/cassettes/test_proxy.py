"""The recording proxy: what goes through it is neither changed nor held up, and comes back as it was."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import http.server
import shutil
import ssl
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from harness.cassettes.canary import Canary
from harness.cassettes.read import read
from harness.cassettes.redact import Redactor
from harness.cassettes.search import Search
from harness.provider.connection import Response as Channel
from harness.provider.request import Request as Asked
from harness.scenario.model import Scenario
from tests.cassettes.serving import KEY, post, recording, replaying, serving, timed
from tests.provider.serve import body, reply, scenario, text

CITED = {
    "type": "text",
    "text": "It is out.",
    "citations": [
        {
            "type": "web_search_result_location",
            "url": "https://x.test",
            "title": "News",
            "encrypted_index": "Eo8BCioIA",
            "cited_text": "It is out",
        }
    ],
}
FOUND = [{"type": "web_search_result", "url": "https://x.test", "title": "News", "encrypted_content": "Aq8B"}]
SEARCH = {
    "type": "server_tool_use",
    "id": "srvtoolu_01AbCdEfGhIjKlMnOpQrStUv",
    "name": "web_search",
    "input": {"query": "né"},
}
RESULT = {"type": "web_search_tool_result", "tool_use_id": SEARCH["id"], "content": FOUND}


def rich() -> Scenario:
    """Thinking, two texts, a server tool with its result and citations, a pause, usage."""
    thought = {"type": "thinking", "thinking": "Let me look that up.", "signature": "EqQBCgIYAhIM"}
    return scenario(
        [
            reply(
                thought, text("First "), text("a look 😀."), SEARCH, RESULT, CITED,
                stop_reason="pause_turn", usage={"server_tool_use": {"web_search_requests": 1}},
                gap=0.02, server_gap=0.1,
            ),
            reply("Done.", delay=0.2),
        ],
        rules="lenient",
    )  # fmt: skip


def chatty() -> Scenario:
    return scenario([reply("Hi.", repeat="forever")], rules="lenient")


def asking(**fields: Any) -> dict[str, Any]:
    return body(**fields)


def test_what_is_replayed_is_what_was_recorded_to_the_byte(tmp_path: Path) -> None:
    came, again = heard_twice(tmp_path / "x.yaml")

    for (status, headers, pieces), (same, told, repeated) in zip(came, again, strict=True):
        assert (status, whole(pieces)) == (same, whole(repeated))
        redacted = {"anthropic-organization-id": "REDACTED", "anthropic-workspace-id": "REDACTED"}
        assert headers | redacted == told
    assert moments(came[1][2])[0] > 0.2
    assert lateness(came, again) < 0.5


@pytest.mark.slow
def test_every_piece_comes_within_twenty_milliseconds_of_its_time(tmp_path: Path) -> None:
    # A machine that does other things is late now and then; what is late by itself is so each time.
    assert any(lateness(*heard_twice(tmp_path / f"{n}.yaml")) < 0.02 for n in range(8))


Heard = list[tuple[int, dict[str, str], list[tuple[float, bytes]]]]


def heard_twice(path: Path) -> tuple[Heard, Heard]:
    """A stream and a whole answer, as they are recorded and as they are replayed."""
    with serving(scenario=rich()) as api, recording(api.url, path) as (proxy, _):
        came = [timed(proxy.url, asking(stream=True)), timed(proxy.url, asking())]
    with replaying(path, 1.0) as (url, player):
        again = [timed(url, asking(stream=True)), timed(url, asking())]
    assert player.finish() == []
    return came, again


def lateness(came: Heard, again: Heard) -> float:
    """Seconds by which any part of the bodies came at another moment."""
    return max(
        abs(here - there)
        for (_, _, pieces), (_, _, repeated) in zip(came, again, strict=True)
        for here, there in zip(moments(pieces), moments(repeated), strict=True)
    )


def whole(pieces: list[tuple[float, bytes]]) -> bytes:
    return b"".join(data for _, data in pieces)


def moments(pieces: list[tuple[float, bytes]]) -> list[float]:
    """When each hundredth of the body was there."""
    size, found, seen = len(whole(pieces)), [], 0
    for at, data in pieces:
        seen += len(data)
        while len(found) < 100 and seen * 100 >= size * (len(found) + 1):
            found.append(at)
    return found


def test_events_reach_the_client_as_they_come(tmp_path: Path) -> None:
    heard = threading.Event()

    async def answers(_: Asked, channel: Channel) -> None:
        """Says the second thing only when the client has heard the first."""
        channel.begin(200, {"content-type": "text/event-stream"}, None)
        channel.write((b"data: 1\n\n",))
        channel.flush()
        while not heard.is_set():
            await asyncio.sleep(0.005)
        channel.write((b"data: 2\n\n",))
        channel.end()
        await channel.drain()

    with serving(answers) as api, recording(api.url, tmp_path / "x.yaml") as (proxy, _):
        _, _, pieces = timed(proxy.url, {}, after=lambda _: heard.set())

    assert [data for _, data in pieces] == [b"data: 1\n\n", b"data: 2\n\n"]
    assert [piece.size for piece in read(tmp_path / "x.yaml").interactions[0].response.pieces] == [9, 9]


def test_a_client_that_leaves_ends_the_request_and_is_recorded_so(tmp_path: Path) -> None:
    left = threading.Event()

    async def answers(_: Asked, channel: Channel) -> None:
        channel.begin(200, {"content-type": "text/event-stream"}, None)
        channel.write((b"data: 1\n\n",))
        channel.flush()
        await channel.gone
        left.set()

    def leave(_: bytes) -> None:
        raise ConnectionAbortedError

    with serving(answers) as api, recording(api.url, tmp_path / "x.yaml") as (proxy, said):
        with pytest.raises(ConnectionAbortedError):
            timed(proxy.url, {}, after=leave)
        assert left.wait(10)

    [one] = read(tmp_path / "x.yaml").interactions
    assert (one.response.body, one.response.broken) == (b"data: 1\n\n", True)
    assert said == ["POST /v1/messages: 200, broken off"]


@pytest.mark.parametrize("length", [None, 100])
def test_an_answer_that_broke_off_breaks_off_again(tmp_path: Path, length: int | None) -> None:
    async def answers(_: Asked, channel: Channel) -> None:
        channel.begin(200, {"content-type": "text/event-stream" if length is None else "text/plain"}, length)
        channel.write((b"data: 1\n\n",))
        await channel.close()

    with (
        serving(answers) as api,
        recording(api.url, tmp_path / "x.yaml") as (proxy, _),
        pytest.raises(http.client.IncompleteRead),
    ):
        post(proxy.url, {})
    with replaying(tmp_path / "x.yaml") as (url, _), pytest.raises(http.client.IncompleteRead):
        post(url, {})


def test_what_the_api_compresses_is_passed_on_and_kept_unpacked(tmp_path: Path) -> None:
    packed = gzip.compress(b'{"a": "b"}' * 100)

    async def answers(asked: Asked, channel: Channel) -> None:
        assert asked.headers["accept-encoding"] == "identity"
        channel.begin(200, {"content-type": "application/json", "content-encoding": "gzip"}, None)
        for start in range(0, len(packed), 10):
            channel.write((packed[start : start + 10],))
            await channel.drain()
            await asyncio.sleep(0.002)
        channel.end()
        await channel.drain()

    with serving(answers) as api, recording(api.url, tmp_path / "x.yaml") as (proxy, _):
        _, headers, got = post(proxy.url, {})
    with replaying(tmp_path / "x.yaml") as (url, _):
        _, plain, again = post(url, {})

    assert (headers["content-encoding"], got) == ("gzip", packed)
    assert ("content-encoding" in plain, again) == (False, b'{"a": "b"}' * 100)
    pieces = read(tmp_path / "x.yaml").interactions[0].response.pieces
    assert sum(piece.size for piece in pieces) == 1000
    assert len(pieces) > 1


def test_headers_and_parameters_go_through_and_those_of_the_connection_do_not(tmp_path: Path) -> None:
    seen: dict[str, Any] = {}

    async def answers(asked: Asked, channel: Channel) -> None:
        seen.update(asked.headers, query=asked.query, path=asked.path, raw=asked.raw)
        channel.begin(201, {"x-one": "1"}, 2, [("set-cookie", "a=1"), ("set-cookie", "b=2")])
        channel.write((b"ok",))
        channel.end()
        await channel.drain()

    with serving(answers) as api, recording(f"{api.url}/gateway/", tmp_path / "x.yaml") as (proxy, _):
        status, _, got = post(
            f"{proxy.url}/v1/models?limit=1",
            gzip.compress(b"{}"),
            te="trailers",
            x_mine="é",
            content_encoding="gzip",
        )
        host = api.url.removeprefix("http://")

    assert (status, got) == (201, b"ok")
    assert (seen["path"], seen["query"], seen["raw"]) == ("/gateway/v1/models", "limit=1", b"{}")
    assert seen["host"] == host
    assert seen["x-api-key"] == KEY
    assert "te" not in seen
    assert "content-encoding" not in seen
    [one] = read(tmp_path / "x.yaml").interactions
    assert one.request.uri == f"{api.url}/gateway/v1/models?limit=1"
    assert one.response.headers.count(("set-cookie", "REDACTED")) == 2


def test_an_api_that_cannot_be_reached_is_said_and_not_recorded(tmp_path: Path) -> None:
    with recording("http://127.0.0.1:9", tmp_path / "x.yaml") as (proxy, said):
        status, headers, got = post(proxy.url, {})

    assert (status, headers["x-should-retry"]) == (502, "false")
    assert b"127.0.0.1:9 cannot be reached" in got
    assert "ConnectError" in said[0]
    assert read(tmp_path / "x.yaml").interactions == []


def test_a_key_that_turns_up_later_is_taken_out_of_what_was_recorded(tmp_path: Path) -> None:
    other = "an-unknown-shape-of-key"
    path = tmp_path / "x.yaml"
    with serving(scenario=chatty()) as api, recording(api.url, path, live=True) as (proxy, _):
        post(proxy.url, asking(metadata={"note": f"<{other}>"}, stream=True))
        post(proxy.url, asking(), authorization=f"Bearer {other}")

    assert other not in path.read_text()
    assert b'{"note": "<REDACTED>"}' in read(path).interactions[0].request.body


def test_a_secret_that_would_survive_ends_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.yaml"
    secret = "correct horse battery"
    monkeypatch.setattr(Search, "in_text", lambda *_, **__: iter(()))
    redactor = Redactor(secrets=[secret], known={})
    with serving(scenario=chatty()) as api, recording(api.url, path, redactor, live=True) as (proxy, said):
        post(proxy.url, asking())
        assert post(proxy.url, asking(metadata={"note": secret}))[0] == 200
        post(proxy.url, asking())

    assert len(read(path).interactions) == 1
    assert said[1].startswith("a configured secret is in the body of the request of POST")
    assert secret not in "".join([*said, path.read_text()])
    Canary({secret: "it"}).check(read(path).interactions[0])


def test_an_api_whose_certificate_nobody_vouches_for_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = made_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = http.server.HTTPServer(("127.0.0.1", 0), Hello)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    url = f"https://127.0.0.1:{server.server_port}"
    try:
        with recording(url, tmp_path / "x.yaml") as (proxy, said):
            assert post(proxy.url, {})[0] == 502
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with recording(url, tmp_path / "x.yaml") as (proxy, _):
            assert post(proxy.url, {})[::2] == (200, b"hello")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert "CERTIFICATE_VERIFY_FAILED" in said[0]


class Hello(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_: Any) -> None:
        """Nothing on the standard error."""


def made_certificate(folder: Path) -> Path:
    """A certificate for 127.0.0.1 and its key, in one file."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl to make a certificate with")
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    subprocess.run(
        [*made, "-keyout", folder / "key", "-out", folder / "cert"], check=True, capture_output=True
    )
    (folder / "both").write_bytes((folder / "key").read_bytes() + (folder / "cert").read_bytes())
    return folder / "both"


def test_a_function_that_fails_ends_the_recording_and_not_the_client(tmp_path: Path) -> None:
    def fails(text: str) -> str:
        raise KeyError(text)

    with (
        serving(scenario=chatty()) as api,
        recording(api.url, tmp_path / "x.yaml", Redactor([fails], known={})) as (proxy, said),
    ):
        assert post(proxy.url, asking())[0] == 200

    assert "fails to redact by raised KeyError" in said[0]
    assert read(tmp_path / "x.yaml").interactions == []


def test_a_key_that_turns_up_later_and_cannot_be_taken_out_takes_back_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.yaml"
    other = "an-unknown-shape-of-key"
    monkeypatch.setattr(Search, "in_text", lambda *_, **__: iter(()))
    with serving(scenario=chatty()) as api, recording(api.url, path, live=True) as (proxy, said):
        post(proxy.url, asking())
        post(proxy.url, asking(metadata={"note": other}))
        post(proxy.url, asking(), authorization=f"Bearer {other}")

    assert len(read(path).interactions) == 1
    assert other not in path.read_text()
    assert said[-1].startswith("the value of the header authorization is in the body of the request")
