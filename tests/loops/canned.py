"""A provider that reads its answers off a list, and a turn to play against it: enough to try a loop out."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness.history import AnyEvent, Ended, Published, Reported, UsageRecorded
from harness.store import Store
from harness.turn import Behaviour, Limits, Outcome, ToolSpec, Turn, TurnSpec, ended


def reply(stop_reason: str, *content: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-6",
        "content": list(content),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    } | fields


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str, given: Any = None, call_id: str = "") -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": call_id or f"toolu_{name}",
        "name": name,
        "input": {} if given is None else given,
    }


def search(call_id: str = "srvtoolu_1") -> dict[str, Any]:
    return {"type": "server_tool_use", "id": call_id, "name": "web_search", "input": {"query": "x"}}


def found(call_id: str = "srvtoolu_1") -> dict[str, Any]:
    return {"type": "web_search_tool_result", "tool_use_id": call_id, "content": []}


def events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The stream of a message, blocks whole in their start but for text and tool inputs."""
    start = message | {"content": [], "stop_reason": None, "usage": message["usage"] | {"output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    for index, block in enumerate(message["content"]):
        at = {"index": index}
        if block["type"] == "text":
            yield {"type": "content_block_start", **at, "content_block": block | {"text": ""}}
            for letter in block["text"]:
                yield {"type": "content_block_delta", **at, "delta": {"type": "text_delta", "text": letter}}
        elif "input" in block:
            yield {"type": "content_block_start", **at, "content_block": block | {"input": {}}}
            for piece in ["", json.dumps(block["input"])] if block["input"] else [""]:
                delta = {"type": "input_json_delta", "partial_json": piece}
                yield {"type": "content_block_delta", **at, "delta": delta}
        else:
            yield {"type": "content_block_start", **at, "content_block": block}
        yield {"type": "content_block_stop", **at}
        if index == 0:
            yield {"type": "ping"}
    delta = {
        k: v for k, v in message.items() if k in ("stop_reason", "stop_sequence", "stop_details", "container")
    }
    yield {"type": "message_delta", "delta": delta, "usage": message["usage"]}
    yield {"type": "message_stop"}


def sse(message: dict[str, Any]) -> bytes:
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}  \n\n".encode() for event in events(message)
    )


class Canned:
    """The server. An answer is a message, an `(status, headers, body)` triple, or bytes of a stream."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers = answers
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.before: Callable[[int], None] = lambda number: None

    @contextmanager
    def serving(self) -> Iterator[str]:
        canned = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                canned.requests.append(body)
                canned.headers.append({name.lower(): value for name, value in self.headers.items()})
                canned.before(len(canned.requests))
                status, headers, payload = canned.answer(body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(payload)))
                self.end_headers()
                try:
                    self.wfile.write(payload)
                except OSError:
                    self.close_connection = True

            def log_message(self, *args: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        if not self.answers:
            message = {
                "type": "error",
                "error": {"type": "invalid_request_error", "message": "the script has ended"},
            }
            return 400, {"x-should-retry": "false"}, json.dumps(message).encode()
        answer = self.answers.pop(0)
        if isinstance(answer, tuple):
            status, headers, payload = answer
            return status, headers, payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        if isinstance(answer, bytes):
            return 200, {"content-type": "text/event-stream"}, answer
        if body.get("stream"):
            return 200, {"content-type": "text/event-stream"}, sse(answer)
        return 200, {"content-type": "application/json"}, json.dumps(answer).encode()


class Played:
    """What came of one turn."""

    def __init__(self) -> None:
        self.events: list[AnyEvent] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.returned: Any = None
        self.error: BaseException | None = None
        self.store = Store()

    @property
    def outcome(self) -> Outcome:
        assert isinstance(self.returned, Outcome), (self.returned, self.error)
        return self.returned

    @property
    def end(self) -> Ended:
        return ended(self.returned)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def last_state(self) -> dict[str, Any]:
        state: dict[str, Any] = self.of(Published)[-1].state
        return state

    @property
    def texts(self) -> list[str]:
        return [shown["content"] for shown in self.outcome.shown or []]

    @property
    def texts_plain(self) -> list[str]:
        return [shown if isinstance(shown, str) else shown["content"] for shown in self.end.shown or []]

    @property
    def problems(self) -> list[str]:
        return [event.problem for event in self.of(Reported)]

    @property
    def usage(self) -> UsageRecorded:
        (recorded,) = self.of(UsageRecorded)
        assert isinstance(recorded, UsageRecorded)
        return recorded


def tool(name: str, *answers: Behaviour, **behaviour: Any) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=name,
        input_schema={"type": "object"},
        answers=list(answers) or [Behaviour(**behaviour)],
    )


def play(
    loop: Callable[[Turn], Any],
    answers: list[Any],
    *,
    tools: tuple[ToolSpec, ...] = (),
    messages: list[dict[str, Any]] | None = None,
    stream: bool = False,
    limits: Limits | None = None,
    store: Store | None = None,
    before: Callable[[Played, int], None] | None = None,
    **fields: Any,
) -> Played:
    """One turn of `loop` against `answers`. `before(played, n)` runs when request n has arrived."""
    played = Played()
    played.store = store if store is not None else Store()
    canned = Canned(list(answers))
    if before is not None:
        canned.before = lambda number: before(played, number)
    with canned.serving() as url:
        spec = TurnSpec(
            base_url=url, api_key="sk-ant-test", model="claude-opus-4-6", max_tokens=100, system="Be brief.",
            prompt="Hello?", messages=[*(messages or []), {"role": "user", "content": "Hello?"}],
            conversation="c1", tools=list(tools), stream=stream, limits=limits or Limits(),
            checkpoint_key="checkpoint:c1", cancel_key="cancel:c1", **fields,
        )  # fmt: skip
        played.store.attach(played.events.append)
        turn = Turn(spec, played.events.append, played.store)
        try:
            played.returned = _called(loop, turn)
        except BaseException as error:  # noqa: BLE001
            played.error = error
    played.requests, played.headers = canned.requests, canned.headers
    return played


def _called(loop: Callable[[Turn], Any], turn: Turn) -> Any:
    if inspect.iscoroutinefunction(loop):
        return asyncio.run(loop(turn))
    return loop(turn)


def until(holds: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Whether something comes true in time."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True
