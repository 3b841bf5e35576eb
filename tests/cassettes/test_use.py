"""Recording and replaying in a Python process."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import logging
import os
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
import vcr

import harness
from harness.cassettes.canary import LeakError
from harness.cassettes.pacing import POOLS
from harness.cassettes.read import read
from harness.cassettes.search import Search
from harness.cassettes.use import NotRecordedError, ReplayError
from tests.cassettes.serving import KEY, serving
from tests.provider.serve import reply, scenario

ASKED: dict[str, Any] = {
    "model": "claude-opus-4-6",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "What changed in the latest release?"}],
}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.delenv("HARNESS_RECORD", raising=False)
    with serving(
        scenario=scenario([reply("Two modules.", delay=0.05, gap=0.01, repeat="forever")])
    ) as server:
        yield server


def ask(url: str, content: str = "", **fields: Any) -> Any:
    asked = ASKED | ({"messages": [{"role": "user", "content": content}]} if content else {}) | fields
    with anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0) as client:
        return client.messages.create(**asked).to_dict()


def streamed(url: str) -> Any:
    with (
        anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0) as client,
        client.messages.stream(**ASKED) as stream,
    ):
        return stream.get_final_message().to_dict()


async def awaited(url: str) -> Any:
    async with anthropic.AsyncAnthropic(base_url=url, api_key=KEY, max_retries=0) as client:
        plain = await client.messages.create(**ASKED)
        async with client.messages.stream(**ASKED) as stream:
            return [plain.to_dict(), (await stream.get_final_message()).to_dict()]


def test_what_the_sdk_got_is_what_it_gets_again(api: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    with harness.record(path, mode="all"):
        got = [ask(api.url), streamed(api.url), *asyncio.run(awaited(api.url))]
    api.close()

    with harness.replay(path):
        assert [ask(api.url), streamed(api.url), *asyncio.run(awaited(api.url))] == got
    assert KEY not in path.read_text()
    for one in read(path).interactions:
        assert one.response.head_at is not None
        assert one.response.head_at > 0.04
        assert sum(piece.size for piece in one.response.pieces) == len(one.response.body)
    streams = [one.response.pieces for one in read(path).interactions if b"event:" in one.response.body]
    assert [len(pieces) > 3 and pieces[-1].at > 0.04 for pieces in streams] == [True, True]


@pytest.mark.parametrize("before", [None, ""])
def test_a_client_that_wants_a_key_gets_one_while_a_recording_is_replayed(
    api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    path = tmp_path / "x.yaml"
    with harness.record(path, mode="all"):
        got = ask(api.url)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    if before is not None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", before)

    with harness.replay(path), anthropic.Anthropic(base_url=api.url, max_retries=0) as client:
        assert client.messages.create(**ASKED).to_dict() == got
    assert os.environ.get("ANTHROPIC_API_KEY") == before

    monkeypatch.setenv("ANTHROPIC_API_KEY", "my own")
    with harness.replay(path):
        assert os.environ["ANTHROPIC_API_KEY"] == "my own"
        ask(api.url)


def test_vcrpy_alone_replays_it_too(api: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    with harness.record(path, mode="all"):
        got = [ask(api.url), streamed(api.url)]
    api.close()

    with vcr.use_cassette(str(path), record_mode="none"):
        assert [ask(api.url), streamed(api.url)] == got


def test_other_clients_are_recorded_and_replayed(api: Any, tmp_path: Path) -> None:
    def get() -> tuple[int, bytes, str | None]:
        headers = {"x-api-key": KEY, "anthropic-version": "2023-06-01"}
        request = urllib.request.Request(f"{api.url}/v1/models?limit=1", headers=headers)
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read(), answer.headers["content-type"]

    with harness.record(tmp_path / "x.yaml", mode="all"):
        got = get()
    api.close()

    with harness.replay(tmp_path / "x.yaml"):
        assert get() == got


def test_a_block_that_fails_keeps_nothing_unless_asked_to(api: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    for keep_failed in (False, True):
        with pytest.raises(ZeroDivisionError), harness.record(path, mode="all", keep_failed=keep_failed):
            1 / len(ask(api.url, stop_sequences=[]).get("nothing", ""))
        assert [each.name for each in tmp_path.iterdir()] == (["x.yaml"] if keep_failed else [])


def test_the_mode_is_none_unless_told_otherwise(
    api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.yaml"
    with pytest.raises(NotRecordedError, match=r"x.yaml is not recorded yet: .*--harness-record"):
        harness.record(path).__enter__()

    monkeypatch.setenv("HARNESS_RECORD", "once")
    with harness.record(path) as use:
        assert use.records
        ask(api.url)
    with harness.record(path) as use:
        assert not use.records
        ask(api.url)
    with pytest.raises(ValueError, match="'often' is no mode of recording; write none, once or all"):
        harness.record(path, mode="often")  # type: ignore[arg-type]


def test_what_is_asked_otherwise_is_said_at_the_end_and_reaches_no_network(api: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    with harness.record(path, mode="all"):
        ask(api.url)
        ask(api.url, "And then?")
    api.close()

    with pytest.raises(ReplayError) as caught, harness.replay(path):
        ask_wrongly(api.url)
    told = str(caught.value)
    assert told.startswith(f"{path}: 3 findings\n\n")
    assert '-   "text": "And then?"' in told
    assert '+   "text": "And what else?"' in told
    assert "interaction 2) was never asked for" in told

    with pytest.raises(anthropic.BadRequestError) as error, harness.replay(path):
        ask(api.url, "And what else?")
    assert "1 finding" in error.value.__notes__[0]


def ask_wrongly(url: str) -> None:
    ask(url)
    with pytest.raises(anthropic.BadRequestError, match=r"loop-harness: .* is not what was recorded"):
        ask(url, "And what else?")
    with pytest.raises(anthropic.BadRequestError, match="was played already"):
        ask(url)


def test_servers_of_this_machine_that_were_not_recorded_are_left_alone(api: Any, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("interactions: []\nversion: 1\n")

    with harness.replay(tmp_path / "x.yaml"):
        assert ask(api.url)["stop_reason"] == "end_turn"


def test_redaction_is_the_same_when_it_is_replayed(api: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    rules = [r"order \d+", lambda text: text.replace("Ada", "somebody")]
    with harness.record(path, mode="all", redact=rules, secrets=["correct horse battery"]):
        got = ask(api.url, "Ada asks about order 17: correct horse battery")
    api.close()

    assert b"somebody asks about REDACTED: REDACTED" in read(path).interactions[0].request.body
    with harness.replay(path, redact=rules, secrets=["another word"]):
        assert ask(api.url, "Ada asks about order 18: another word") == got


def test_a_secret_that_would_survive_keeps_the_recording_from_being_written(
    api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Search, "in_text", lambda *_, **__: iter(()))
    with (
        pytest.raises(LeakError, match="a configured secret is in the body of the request"),
        harness.record(tmp_path / "x.yaml", mode="all", secrets=["correct horse battery"]),
    ):
        assert ask(api.url, "correct horse battery")["stop_reason"] == "end_turn"

    assert list(tmp_path.iterdir()) == []


def test_nothing_is_logged_that_is_not_kept(
    api: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    before = logging.getLogger("vcr").level
    with harness.record(tmp_path / "x.yaml", mode="all"):
        httpx2.Client().close()
        connection = http.client.HTTPConnection(api.url.removeprefix("http://"))
        connection.request("GET", f"/v1/models?api_key={KEY}")
        connection.getresponse().read()
        connection.close()

    assert KEY not in caplog.text
    assert logging.getLogger("vcr").level == before


def test_nothing_stays_patched(api: Any, tmp_path: Path) -> None:
    handles = [httpx2.HTTPTransport.handle_request, http.client.HTTPConnection, *pools()]
    with harness.record(tmp_path / "x.yaml", mode="all"):
        assert pools() != handles[2:]
    with pytest.raises(NotRecordedError):
        harness.replay(tmp_path / "none.yaml").__enter__()

    assert [httpx2.HTTPTransport.handle_request, http.client.HTTPConnection, *pools()] == handles


def pools() -> list[Any]:
    import httpcore2

    assert POOLS[0] == "httpcore2"
    return [httpcore2.ConnectionPool.handle_request, httpcore2.AsyncConnectionPool.handle_async_request]


def test_what_several_threads_ask_is_recorded_and_replayed(api: Any, tmp_path: Path) -> None:
    def all_at_once() -> list[Any]:
        with ThreadPoolExecutor(4) as pool:
            return [got["id"] for got in pool.map(lambda n: ask(api.url, f"number {n}"), range(8))]

    with harness.record(tmp_path / "x.yaml", mode="all"):
        got = all_at_once()
    api.close()

    assert len(set(got)) == 8
    with harness.replay(tmp_path / "x.yaml", any_order=True):
        assert all_at_once() == got


def test_a_compressed_answer_is_kept_unpacked_whichever_client_got_it(tmp_path: Path) -> None:
    async def answers(_: Any, channel: Any) -> None:
        packed = gzip.compress(b'{"a": "b"}')
        channel.begin(200, {"content-type": "application/json", "content-encoding": "gzip"}, len(packed))
        channel.write((packed,))
        await channel.drain()

    path = tmp_path / "x.yaml"
    with serving(answers) as server, harness.record(path, mode="all"):
        with urllib.request.urlopen(server.url) as answer:
            assert gzip.decompress(answer.read()) == b'{"a": "b"}'
        assert httpx2.get(f"{server.url}/again", trust_env=False).content == b'{"a": "b"}'

    for one in read(path).interactions:
        assert one.response.body == b'{"a": "b"}'
        assert "content-encoding" not in {name.lower() for name, _ in one.response.headers}
    with vcr.use_cassette(str(path), record_mode="none"):
        assert httpx2.get(f"{server.url}/again", trust_env=False).content == b'{"a": "b"}'


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda _: 1 / 0, "raised ZeroDivisionError"),
        (lambda _: None, "returned NoneType, not the text to keep"),
    ],
)
def test_a_function_that_does_not_redact_is_said_at_the_end(
    api: Any, tmp_path: Path, function: Any, told: str
) -> None:
    with (
        pytest.raises(NotRecordedError, match=f"to redact by {told}"),
        harness.record(tmp_path / "x.yaml", mode="all", redact=[function]),
    ):
        assert ask(api.url)["stop_reason"] == "end_turn"
    with harness.record(tmp_path / "x.yaml", mode="all"):
        ask(api.url)
    api.close()
    with pytest.raises(ReplayError, match=told), harness.replay(tmp_path / "x.yaml", redact=[function]):
        ask_in_vain(api.url)


def ask_in_vain(url: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match="cannot be compared"):
        ask(url, "something else")


def test_a_recording_that_would_not_be_yaml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cassettes are written as YAML; name it x\.yaml"):
        harness.record(tmp_path / "x.json", mode="all").__enter__()
