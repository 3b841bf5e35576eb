"""What happened in one run: an append-only list of events, the only evidence a check may use.

A history is stored as NDJSON, one event a line. The first event (`Began`) holds all that a check needs
beside the events; the last (`Finished`) says that nothing is missing: a file without it is incomplete.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from pathlib import Path
from typing import IO, Any, TypeAlias

import msgspec

from . import clock
from .mended import mended

SCHEMA = 1
"""Version of the stored form; raised when an old reader would misread a new file."""


class Event(msgspec.Struct, kw_only=True, omit_defaults=True, tag_field="event"):
    """One thing that happened. `at` is seconds since the run began, `turn` counts from 0."""

    at: float = 0.0
    turn: int = 0


class Began(Event, kw_only=True, tag="began"):
    """The run began: everything the checks need to know about it."""

    schema: int = SCHEMA
    scenario_id: str
    variant: str
    """`json` or `sse`."""
    scenario: dict[str, Any]
    """The scenario in full, as `harness.scenario.model.Scenario` encodes it."""
    seed: int = 0
    loop: str = ""
    declaration: dict[str, Any] = {}
    """What the loop's owner declared, as `harness.turn.Declaration` encodes it."""
    exposes: list[str] = []
    """What the probe found the loop to expose; the names are `harness.turn.EXPOSABLE`."""
    startup: float = 0.0
    """Seconds the loop took to its first request in the probe; added to its time limits."""
    kind: str = "python"
    """How the loop was reached: `python`, `process` or `service`."""
    watched: bool = False
    """Whether it is seen whom else the loop asks, as far as it asks through a proxy or looks names up."""
    versions: dict[str, str] = {}
    recording: str = ""
    """The recording these events were made of: nothing was run, and all that is known was on the wire."""
    finished: list[list[tuple[str, str]]] = []
    """What finished answers look like to the loop's client, as the probe saw them (`harness.looks`)."""
    phrases: list[str] = []
    """Words of the loop's own that stand in finished answers as well."""


class TurnBegan(Event, kw_only=True, tag="turn_began"):
    """The loop was called with a user message."""

    prompt: str
    messages: list[dict[str, Any]] = []
    """The conversation handed to the loop, the prompt last."""
    model: str = ""
    max_tokens: int = 0
    system: str = ""
    tools: list[str] = []
    """Names of the client tools offered to the loop."""
    limits: dict[str, float] = {}
    conversation: str = ""
    stream: bool = False
    store_keys: list[str] = []
    """Keys in the store when the turn began: what a killed process left, and what the scenario set."""
    rerun: bool = False
    """The turn was begun before, and its process killed: it is the same turn, played again."""


class RequestSeen(Event, kw_only=True, tag="request"):
    """A request arrived in full. `request` counts from 1 over the whole run, side calls included."""

    request: int
    endpoint: str = "messages"
    """`messages`, `count_tokens`, `models`, …, or `unknown`."""
    method: str = "POST"
    path: str = "/v1/messages"
    headers: dict[str, str] = {}
    """Lower-case names; credentials are replaced by a word that tells only their kind."""
    body: Any = None
    """The decoded JSON, or None where it was not JSON."""
    transcript: list[dict[str, Any]] | None = None
    """The messages the model would have seen, where message threads make that differ from `body`."""
    lane: str = ""
    """Empty for the conversation, else the lane (or `side`) that answered it."""
    retry: int = 0
    """`x-stainless-retry-count`, 0 where absent."""
    same_as: int | None = None
    """The latest earlier request with an equal body."""


class Answered(Event, kw_only=True, tag="answered"):
    """The provider decided its answer and began to send it."""

    request: int
    kind: str
    """`reply`, `fault`, `rejected` (by the API's rules), `over` (the script has ended), `side`, `unbound`."""
    status: int = 200
    """The HTTP status; 0 where the connection was closed, reset or left silent in place of an answer."""
    step: int | None = None
    """Index of the scripted step in the turn's script."""
    body: Any = None
    """The message of a reply (also where it was streamed) or the error body."""
    headers: dict[str, str] = {}
    stream: bool = False
    rule: str = ""
    """The rule that rejected the request."""


class Delivered(Event, kw_only=True, tag="delivered"):
    """The last byte of the answer was written."""

    request: int
    events: int = 0


class Broken(Event, kw_only=True, tag="broken"):
    """The answer ended or was spoiled `by` client or script, after whole `events` and `bytes` of its body."""

    request: int
    events: int = 0
    by: str = "client"
    bytes: int = 0
    how: str = ""
    """What the scenario did: `error`, `end`, `close`, `reset`, `silence` or `garbage`."""
    last: str = ""
    """Name of the last event of the reply that was sent whole, where the scenario broke it off."""


class Noted(Event, kw_only=True, tag="noted"):
    """What a check or a report may want to know: `unverified` rule broken, `late`, `unbound` and so on."""

    kind: str
    detail: str = ""
    request: int | None = None
    seconds: float = 0.0


class Cancelled(Event, kw_only=True, tag="cancelled"):
    """The scenario cancelled the turn: `point` as written in it, through `via`."""

    point: str
    via: str = "flag"


class CancelPolled(Event, kw_only=True, tag="cancel_polled"):
    """The loop asked whether it is cancelled. Recorded for the first poll and when the answer changes."""

    answer: bool = False


class Claimed(Event, kw_only=True, tag="claimed"):
    """The loop asked for the turn, to be the only worker on it."""

    granted: bool = True


class ToolStarted(Event, kw_only=True, tag="tool_started"):
    """A client tool was called by the loop. `call` counts from 1 over the run."""

    call: int
    name: str
    input: Any = None


class ToolEnded(Event, kw_only=True, tag="tool_ended"):
    """A client tool returned (`result`), raised (`error`) or was abandoned (cancelled from outside)."""

    call: int
    result: Any = None
    error: str | None = None
    abandoned: bool = False


class Published(Event, kw_only=True, tag="published"):
    """The loop published its state."""

    state: dict[str, Any] = {}
    history: Any = None
    done: bool = False


class Reported(Event, kw_only=True, tag="reported"):
    """The loop reported a problem to its owner."""

    problem: str
    exception: str | None = None
    """Class name where an exception was reported."""


class UsageRecorded(Event, kw_only=True, tag="usage"):
    """The loop recorded the usage of the turn."""

    iterations: int | None = None
    tokens: dict[str, int] = {}


class StoreSet(Event, kw_only=True, tag="store_set"):
    """A key of the store was written."""

    key: str
    value: Any = None
    by: str = "loop"


class StoreDeleted(Event, kw_only=True, tag="store_deleted"):
    """A key of the store was removed."""

    key: str
    by: str = "loop"


class Raised(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An exception that left the loop."""

    type: str
    bases: list[str] = []
    """Class names along the MRO, the class itself first."""
    message: str = ""
    traceback: str = ""


class Ended(Event, kw_only=True, tag="ended"):
    """The loop returned or raised. Every field but `returned` is None where it was not told."""

    returned: str = "outcome"
    """`outcome`, `text` (a bare string), `none`, or `raised`."""
    status: str | None = None
    shown: list[Any] | None = None
    history: Any = None
    usage: dict[str, Any] | None = None
    detail: str | None = None
    carry: bool = False
    raised: Raised | None = None
    changed: list[str] | None = None
    """What of the things handed to the loop is no longer what it was; None where nobody could look."""
    appended: int = 0
    """Messages at the end of the list that was handed in which were not there before."""
    look: list[tuple[str, str]] | None = None
    """What a client got beside the text (`harness.looks`); None where nobody was one."""


class Overran(Event, kw_only=True, tag="overran"):
    """The loop had not returned by the deadline (seconds from the call) and was stopped."""

    deadline: float
    stood: str = ""
    """The line of its own code it stood at, where that can be seen."""


class Crashed(Event, kw_only=True, tag="crashed"):
    """The scenario killed the loop's process here: `after` is the point as written in it."""

    after: str
    store_keys: list[str] = []
    """Keys that were in the store of the conversation."""


class Lost(Event, kw_only=True, tag="lost"):
    """The loop's process died, or the adapter could not be driven."""

    reason: str
    output: str = ""


class Exited(Event, kw_only=True, tag="exited"):
    """A process of the loop's ended and `left` something running. The middle of long outputs is left out."""

    code: int | None = None
    signal: int | None = None
    stdout: str = ""
    stderr: str = ""
    sizes: tuple[int, int] = (0, 0)
    unread: bool = False
    """It read nothing of what it was told."""
    left: list[str] = []


class Census(Event, kw_only=True, tag="census"):
    """What was alive: counted `before` and `after` a turn."""

    when: str
    threads: list[str] = []
    tasks: list[str] = []
    children: list[str] = []
    sockets: int = 0
    files: list[str] = []


class Finished(Event, kw_only=True, tag="finished"):
    """The run is over, nothing is missing. `lateness`: worst delay, in seconds, of a provider timer."""

    lateness: float = 0.0


AnyEvent: TypeAlias = (
    Began | TurnBegan | RequestSeen | Answered | Delivered | Broken | Noted | Cancelled | CancelPolled
    | Claimed | ToolStarted | ToolEnded | Published | Reported | UsageRecorded | StoreSet | StoreDeleted
    | Ended | Crashed | Overran | Lost | Exited | Census | Finished
)  # fmt: skip

_encoder = msgspec.json.Encoder()


@functools.cache
def _decoder() -> msgspec.json.Decoder[AnyEvent]:
    """Made when a history is first read: that takes longer than importing this module."""
    return msgspec.json.Decoder(AnyEvent)


def encode_event(event: Event) -> bytes:
    """One event as one line of JSON, without the newline; its texts mended."""
    try:
        return _encoder.encode(event)
    except UnicodeEncodeError:
        return _encoder.encode(mended(msgspec.to_builtins(event)))


def storable(event: AnyEvent) -> AnyEvent:
    """The event as a history can hold it: its texts mended."""
    try:
        _encoder.encode(event)
    except UnicodeEncodeError:
        return decode_event(encode_event(event))
    return event


def decode_event(line: bytes | str) -> AnyEvent:
    """The event in one line. Raises `msgspec.ValidationError` or `msgspec.DecodeError`."""
    return _decoder().decode(line)


class History:
    """The events of one run, in the order in which they happened. Appending is thread-safe.

    With a `path`, each event is written out as it comes, so that a run that is killed leaves what happened
    up to then. Where that cannot be written, `HistoryError` is raised.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.events: list[AnyEvent] = []
        self._origin = clock.now()
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._path = path
        self._turns = 0
        if path:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._file = path.open("wb")
            except OSError as error:
                raise HistoryError(f"{path} cannot be written: {error.strerror}") from error

    def append(self, event: AnyEvent) -> None:
        """Stamp `event` with the time and the current turn, and keep it."""
        with self._lock:
            event.at = round(clock.now() - self._origin, 6)
            if isinstance(event, TurnBegan) and not event.rerun:
                event.turn = self._turns
                self._turns += 1
            elif not isinstance(event, Began):
                event.turn = max(self._turns - 1, 0)
            self.events.append(event)
            if self._file:
                self._store(self._file, event)

    def _store(self, file: IO[bytes], event: AnyEvent) -> None:
        try:
            file.write(encode_event(event) + b"\n")
            file.flush()
            if isinstance(event, Finished):
                file.close()
                self._file = None
        except OSError as error:
            self._file = None
            with contextlib.suppress(OSError):
                file.close()
            raise HistoryError(f"{self._path} cannot be written: {error.strerror}") from error

    @property
    def complete(self) -> bool:
        """Whether the run came to its end."""
        return bool(self.events) and isinstance(self.events[-1], Finished)


class HistoryError(Exception):
    """A stored history cannot be read or written: the message says where and why."""
