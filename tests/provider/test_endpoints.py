"""The endpoints beside Messages, asked by the real client and by hand."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from harness.history import RequestSeen
from harness.scenario.model import Fault, Step
from harness.wire.models import LISTED
from tests.provider.serve import PROMPT, Served, body, fault, reply
from tests.provider.wire import KEY, Wire


@pytest.fixture
def client(served: Served) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=f"{served.provider.url}/w0", api_key=KEY, max_retries=0) as made:
        yield made


def item(name: str, **fields: Any) -> dict[str, Any]:
    return {"custom_id": name, "params": body(**fields)}


def get(served: Served, path: str, method: str = "GET", asked: Any = None, **headers: str) -> tuple[int, Any]:
    with Wire(served) as wire:
        wire.send(wire.ask(asked, path=path, method=method, **headers))
        status, _, data = wire.read()
        return status, json.loads(data)


# --- models ----------------------------------------------------------------------------------------


def test_models_are_listed_a_page_at_a_time(served: Served, client: anthropic.Anthropic) -> None:
    served.open([])
    first = client.models.list(limit=5)
    assert [model.id for model in first.data] == list(LISTED[:5])
    assert [model.id for model in client.models.list(limit=5)] == list(LISTED)
    assert {event.lane for event in served.of(RequestSeen)} == {"side"}


@pytest.mark.parametrize(
    ("query", "shown", "more"),
    [
        ("", LISTED, False),
        ("?limit=2", LISTED[:2], True),
        (f"?limit=2&after_id={LISTED[1]}", LISTED[2:4], True),
        (f"?limit=3&after_id={LISTED[-3]}", LISTED[-2:], False),
        (f"?limit=2&before_id={LISTED[4]}", LISTED[2:4], True),
        (f"?limit=2&before_id={LISTED[1]}", LISTED[:1], False),
        (f"?after_id={LISTED[-1]}", (), False),
    ],
)
def test_pages_follow_their_cursors(served: Served, query: str, shown: tuple[str, ...], more: bool) -> None:
    served.open([])
    status, said = get(served, f"/v1/models{query}")
    assert status == 200
    assert [model["id"] for model in said["data"]] == list(shown)
    assert said["has_more"] == more
    assert (said["first_id"], said["last_id"]) == ((shown[0], shown[-1]) if shown else (None, None))


@pytest.mark.parametrize("query", ["?limit=0", "?limit=1001", "?limit=many", "?limit=", "?after_id=nobody"])
def test_a_page_that_does_not_exist_is_refused(served: Served, query: str) -> None:
    served.open([])
    status, said = get(served, f"/v1/models{query}")
    assert (status, said["error"]["type"]) == (400, "invalid_request_error")


def test_one_model_is_found_by_its_alias(served: Served, client: anthropic.Anthropic) -> None:
    served.open([])
    found = client.models.retrieve("claude-haiku-4-5")
    assert (found.id, found.line) == ("claude-haiku-4-5-20251001", "haiku")
    with pytest.raises(anthropic.NotFoundError, match="model: gpt-5"):
        client.models.retrieve("gpt-5")


def test_tokens_are_counted(served: Served, client: anthropic.Anthropic) -> None:
    served.open([])
    asked = body()
    del asked["max_tokens"]
    few = client.messages.count_tokens(**asked).input_tokens
    asked["messages"] = [{"role": "user", "content": PROMPT * 50}]
    assert client.messages.count_tokens(**asked).input_tokens > few * 3


# --- batches ---------------------------------------------------------------------------------------


def test_a_batch_is_answered_by_the_script(served: Served, client: anthropic.Anthropic) -> None:
    expired = Step(fault=Fault(status=504, type="expired"))
    served.open([reply("A"), reply("B"), fault(400, message="no"), expired, reply("After.")])
    made = client.messages.batches.create(requests=[item(name) for name in "abcd"])
    assert (made.processing_status, made.results_url) == ("ended", made.results_url)
    found = client.messages.batches.retrieve(made.id)
    counts = found.request_counts.to_dict()
    assert counts == {"processing": 0, "succeeded": 2, "errored": 1, "canceled": 0, "expired": 1}
    assert found.ended_at is not None
    results = {each.custom_id: each.result for each in client.messages.batches.results(made.id)}
    assert [results[name].type for name in "abcd"] == ["succeeded", "succeeded", "errored", "expired"]
    assert [results[name].message.content[0].text for name in "ab"] == ["A", "B"]
    assert results["a"].message.usage.service_tier == "batch"
    assert results["c"].error.error.message == "no"
    # The steps are used up.
    assert client.messages.create(**body()).content[0].text == "After."


def test_a_batch_is_in_progress_until_its_replies_are_there(
    served: Served, client: anthropic.Anthropic
) -> None:
    served.open([reply("A", delay=0.4), reply("B")])
    made = client.messages.batches.create(requests=[item("a"), item("b")])
    assert (made.processing_status, made.request_counts.processing) == ("in_progress", 2)
    assert made.results_url is None
    status, said = get(served, f"/v1/messages/batches/{made.id}/results")
    assert (status, said["error"]["type"]) == (404, "not_found_error")
    with pytest.raises(anthropic.BadRequestError, match="in progress"):
        client.messages.batches.delete(made.id)
    deadline = time.monotonic() + 5
    while client.messages.batches.retrieve(made.id).processing_status != "ended":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert len(list(client.messages.batches.results(made.id))) == 2
    assert client.messages.batches.delete(made.id).type == "message_batch_deleted"
    with pytest.raises(anthropic.NotFoundError):
        client.messages.batches.retrieve(made.id)


def test_a_batch_is_cancelled(served: Served, client: anthropic.Anthropic) -> None:
    served.open([reply("A"), reply("B", delay=30)])
    made = client.messages.batches.create(requests=[item("a"), item("b")])
    stopped = client.messages.batches.cancel(made.id)
    assert stopped.processing_status == "canceling"
    found = client.messages.batches.retrieve(made.id)
    assert (found.processing_status, found.cancel_initiated_at is not None) == ("ended", True)
    kinds = {each.custom_id: each.result.type for each in client.messages.batches.results(made.id)}
    assert kinds == {"a": "succeeded", "b": "canceled"}
    with pytest.raises(anthropic.BadRequestError, match="already ended"):
        client.messages.batches.cancel(made.id)


def test_results_come_in_another_order_than_the_requests(served: Served) -> None:
    served.open([reply("A", repeat=6)])
    names = list("abcdef")
    _, made = get(served, "/v1/messages/batches", "POST", {"requests": [item(name) for name in names]})
    with Wire(served) as wire:
        wire.send(wire.ask(method="GET", path=f"/v1/messages/batches/{made['id']}/results"))
        _, headers, data = wire.read()
    lines = [json.loads(line) for line in data.splitlines()]
    assert headers["content-type"] == "application/x-jsonl"
    assert sorted(line["custom_id"] for line in lines) == names
    assert [line["custom_id"] for line in lines] != names


def test_a_broken_item_is_an_error_of_its_own(served: Served) -> None:
    served.open([reply("A"), Step(fault=Fault(connection="reset"))])
    asked = {"requests": [item("a"), item("bad", max_tokens="many"), item("cut")]}
    _, made = get(served, "/v1/messages/batches", "POST", asked)
    counts = made["request_counts"]
    assert (counts["succeeded"], counts["errored"]) == (1, 2)


def test_batches_are_listed_newest_first(served: Served, client: anthropic.Anthropic) -> None:
    served.open([reply("A", repeat=3)])
    made = [client.messages.batches.create(requests=[item("a")]).id for _ in range(3)]
    assert [each.id for each in client.messages.batches.list(limit=2)] == made[::-1]


@pytest.mark.parametrize(
    ("requests", "text"),
    [
        ([], "requests: List should have at least 1 item after validation, not 0"),
        (None, "requests: Input should be a valid list"),
        ([{"custom_id": "a"}], "requests.0.params: Field required"),
        (
            [{"custom_id": "a b", "params": {}}],
            "requests.0.custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'",
        ),
        (
            [{"custom_id": "a", "params": {}}, {"custom_id": "a\n", "params": {}}],
            "requests.1.custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'",
        ),
    ],
)
def test_what_is_no_batch_is_refused(served: Served, requests: Any, text: str) -> None:
    served.open([])
    status, said = get(served, "/v1/messages/batches", "POST", {"requests": requests})
    assert (status, said["error"]["message"]) == (400, text)


# --- files -----------------------------------------------------------------------------------------


def test_a_file_is_kept_and_deleted(served: Served, client: anthropic.Anthropic) -> None:
    served.open([])
    made = client.files.upload(file=("data.csv", b"a,b\n1,2\n", "text/csv"))
    assert (made.filename, made.mime_type, made.size_bytes) == ("data.csv", "text/csv", 8)
    assert made.id.startswith("file_01")
    assert made.downloadable is False
    assert client.files.retrieve_metadata(made.id).to_dict() == made.to_dict()
    with pytest.raises(anthropic.BadRequestError) as caught:
        client.files.download(made.id)
    assert caught.value.body["error"]["details"] == {"error_code": "file_not_downloadable"}
    assert client.files.delete(made.id).type == "file_deleted"
    with pytest.raises(anthropic.NotFoundError):
        client.files.retrieve_metadata(made.id)


def test_files_are_listed_in_the_shape_of_each_era(served: Served, client: anthropic.Anthropic) -> None:
    served.open([])
    made = [client.files.upload(file=(f"{n}.txt", bytes([0, 13, 10, n]))).id for n in range(5)]
    assert [each.id for each in client.files.list(limit=2)] == made[::-1]
    _, old = get(served, "/v1/files?limit=2", anthropic_beta="files-api-2025-04-14")
    assert (old["has_more"], old["first_id"], old["last_id"]) == (True, made[4], made[3])


def test_binary_files_keep_every_byte(served: Served, client: anthropic.Anthropic) -> None:
    served.open([])
    data = bytes(range(256)) * 3 + b"\r\n--\r\n"
    assert client.files.upload(file=("a.bin", data)).size_bytes == len(data)


def test_an_upload_without_a_file_is_refused(served: Served) -> None:
    served.open([])
    status, said = get(served, "/v1/files", "POST", {"file": "no"})
    assert (status, said["error"]["type"]) == (400, "invalid_request_error")
    kind = "multipart/form-data; boundary=x"
    status, said = get(served, "/v1/files", "POST", b"--x--\r\n", content_type=kind)
    assert (status, said["error"]["message"]) == (400, "file: Field required")


# --- the rest --------------------------------------------------------------------------------------


def test_the_old_completions_answer(served: Served) -> None:
    served.open([])
    asked = {"model": "claude-2.1", "max_tokens_to_sample": 5, "prompt": "\n\nHuman: Hi\n\nAssistant:"}
    status, said = get(served, "/v1/complete", "POST", asked)
    assert (status, said["type"], said["stop_reason"]) == (200, "completion", "stop_sequence")
    assert get(served, "/v1/complete", "POST", {})[1]["error"]["message"] == "model: Field required"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/messages"),
        ("DELETE", "/v1/models"),
        ("PUT", "/v1/messages/batches"),
        ("POST", "/v1/messages/batches/msgbatch_01/results"),
        ("PATCH", "/v1/files/file_01"),
        ("GET", "/v1/complete"),
    ],
)
def test_the_wrong_method_is_a_405(served: Served, method: str, path: str) -> None:
    served.open([])
    status, said = get(served, path, method)
    assert (status, said["error"]["message"]) == (405, "Method Not Allowed")


@pytest.mark.parametrize("path", ["/v1/messages/batches", "/v1/files", "/v1/models"])
def test_every_endpoint_wants_the_version(served: Served, path: str) -> None:
    served.open([])
    status, said = get(served, path, anthropic_version="")
    assert (status, said["error"]["message"]) == (400, "anthropic-version: header is required")


@pytest.mark.parametrize("path", ["/v1/messages/batches/x/y", "/v1/files/a/b", "/v1/skills", "/v1"])
def test_anything_else_is_the_apis_404(served: Served, path: str) -> None:
    served.open([])
    status, said = get(served, path)
    assert (status, said["error"]) == (404, {"type": "not_found_error", "message": "Not Found"})


def test_what_one_session_keeps_another_does_not_see(served: Served) -> None:
    served.open([reply("A")], key="first")
    served.open([reply("A")], key="second")
    asked = {"requests": [item("a")]}
    _, made = get(served, "/v1/messages/batches", "POST", asked, x_api_key="first")
    path = f"/v1/messages/batches/{made['id']}"
    assert get(served, path, x_api_key="first")[0] == 200
    assert get(served, path, x_api_key="second")[0] == 404
