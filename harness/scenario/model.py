"""The scenario file as a typed model: one definition for the decoder, the JSON Schema and the docs.

Content blocks stay plain mappings, so that everything the wire can carry can be written.
A field's docstring is its documentation; its default is the documented default.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from ..turn import Limits, Status, ToolSpec
from ..wire.eras import CURRENT, EraName

Block: TypeAlias = Annotated[dict[str, Any], msgspec.Meta(extra={"form": "block"})]
"""A content block in its wire form, ids filled in by the script unless written."""

Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]


HookName: TypeAlias = Literal["publish", "report", "usage"]
"""A hook that can be made to fail."""

Via: TypeAlias = Literal["flag", "store", "asyncio", "interrupt", "signal"]
"""How a turn is cancelled."""


class Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of every part of a scenario: unknown keys are errors."""


class Task(Strict, frozen=True, kw_only=True):
    """What the loop is asked to do."""

    prompt: str = ""
    """The user's message; generated where it does not matter."""
    system: str = "You are a helpful assistant. Answer in one or two sentences."
    """The system prompt; an empty text for none."""
    model: str = "claude-opus-4-6"
    """The model the loop is told to ask for."""
    max_tokens: Count = 4096
    """The limit the loop is told to send."""


class Break(Strict, frozen=True, kw_only=True):
    """Something that goes wrong while a reply is sent, at one place of its body."""

    at: str
    """`head` (headers sent, nothing else), `event N` or `content_block_delta N` (after it),
    `inside event N`, `byte N`, `inside character` (one of several bytes), `inside tool json`,
    `end` (before what ends the body), `done` (after it)."""
    by: Literal["error", "end", "close", "reset", "silence", "stall", "event", "garbage"]
    """`error`: an `error` event, then the end; a whole reply becomes the HTTP error. `end`: the body ends as
    if it were whole. `close`: the connection ends. `reset`: it is torn down. `silence`: it stays open, and
    nothing more is sent. After the others the reply goes on. `stall`: a wait. `event`: an event that does not
    belong there. `garbage`: an event that is no JSON."""
    error: dict[str, Any] = {}
    """Of `error`: merged over `{type: overloaded_error, message: Overloaded}`."""
    seconds: Seconds = 0.0
    """Of `stall`: how long."""
    pings: Seconds = 0.0
    """Of `stall` and `silence`: seconds between pings; 0: none."""
    event: dict[str, Any] | None = None
    """Of `event`: its data; its `type` is its name."""
    text: str | None = None
    """Of `garbage`: the bytes as they are, in place of half an event."""

    @property
    def spoils(self) -> bool:
        """Whether no client can make a message of the reply."""
        return self.by not in ("stall", "event") and self.at != "done"


class Reply(Strict, frozen=True, kw_only=True):
    """One message of the model, as it is sent whole or streamed."""

    stop_reason: str = "end_turn"
    """Any word, also one that does not exist yet."""
    content: list[Block] = []
    """Blocks in short form (`text: Hello`) or as on the wire (`{type: text, text: Hello}`)."""
    stop_sequence: str | None = None
    """The sequence that stopped it."""
    stop_details: dict[str, Any] | None = None
    """Why it was refused: `{type: refusal, category, explanation}`."""
    container: dict[str, Any] | None = None
    """Where code ran: `{id, expires_at}`."""
    usage: dict[str, Any] = {}
    """Merged over the counted usage."""
    fields: dict[str, Any] = {}
    """Further top-level fields of the message, as they are."""
    headers: dict[str, str] = {}
    """Further response headers."""
    delay: Seconds = 0.0
    """Seconds before the first byte."""
    gap: Seconds = 0.0
    """Seconds between the events of a stream; a whole body waits for the sum."""
    pings: Seconds = 0.0
    """Seconds between pings while waiting within a stream; 0: none but the first."""
    segment: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Bytes of a stream that are written at a time, each such piece on its own; 0: an event at a time."""
    tool_input_json: str | None = None
    """The exact JSON text the stream carries for the last tool call, whole or cut; a cut one has
    `input` as the accumulated rest."""
    server_gap: Seconds = 0.02
    """Seconds of silence in a stream before the result of a server tool, which had to run."""
    events: list[dict[str, Any] | str] | None = None
    """The events of the stream, one by one, in place of those made of `content`. A mapping is the data of an
    event; with no more than `type` and `index` it stands for the made events of that kind. A text is sent to
    the letter."""
    breaks: list[Break] = []
    """What goes wrong while it is sent, in the order of the places."""

    @property
    def breaks_off(self) -> bool:
        """Whether no client can make a message of it, so that it is tried again or given up."""
        return any(each.spoils for each in self.breaks)


class Fault(Strict, frozen=True, kw_only=True):
    """An HTTP error instead of a message, or no answer at all.

    Exactly one of `status` and `connection` is written.
    """

    status: int | None = None
    """The HTTP status."""
    connection: Literal["close", "reset", "silence", "refuse"] | None = None
    """In place of an answer the connection is closed, reset, or stays silent. `refuse`: further connections
    are refused for a time, and no request is seen."""
    type: str | None = None
    """The API's error type; by default the one of the status."""
    message: str | None = None
    """The API's text; by default the one of the status."""
    details: dict[str, Any] | None = None
    """The `details` of the error."""
    headers: dict[str, str] = {}
    """Further response headers, `retry-after` for one; an empty text leaves a header out."""
    body: str | None = None
    """The body as it is, where it is not the API's. HTML comes with the headers of a gateway."""
    before_body: bool = False
    """The answer is sent as soon as the request's headers are there; its body is not waited for."""
    delay: Seconds = 0.0
    """Seconds before the first byte."""
    seconds: Seconds = 0.3
    """Of `refuse`: how long, from the moment the step before it is over."""


class Step(Strict, frozen=True, kw_only=True):
    """What the provider does for one request. Exactly one of `reply` and `fault` is written."""

    reply: Reply | None = None
    """A message of the model."""
    fault: Fault | None = None
    """An error of the API."""
    repeat: Count | Literal["forever"] = 1
    """How many requests in a row get this step."""


class Lane(Strict, frozen=True, kw_only=True):
    """A script for side calls: requests that are not part of the conversation."""

    name: str
    """What the lane is called in reports."""
    when: dict[str, Any]
    """Holds for a request whose body contains all of this (mappings by key, lists and values by equality)."""
    script: list[Step] = []
    """What they get, request by request; after its end a short reply."""


class Cancel(Strict, frozen=True, kw_only=True):
    """The user cancels the turn."""

    at: str
    """`start`, `request N` (arrived, its answer not yet sent), `first byte N` (half of its `delay` is over),
    `event N` (of a stream), `tool NAME` (it runs), `after tool NAME` (it has returned, the next is not
    begun), or `retry` (a request has failed, and was not sent again yet)."""
    via: Via = "flag"
    """How. `flag`, `store`: the cancel key (the loop's own where it declares one) is put into the store, and
    `turn.cancelled()` finds it there. `asyncio`: the loop's task is cancelled. `interrupt`: Ctrl-C in the
    loop's thread. `signal`: its process gets SIGTERM where it handles that, else SIGINT."""


class Crash(Strict, frozen=True, kw_only=True):
    """The loop's process is killed in mid-turn. Only a loop that keeps a checkpoint is judged by it."""

    after: str | list[str]
    """`request N` (arrived, not answered), `answer N` (delivered), `tool NAME` (started),
    `tool NAME ended`, `usage` (recorded), `done` (published); with `kept` behind an answer or a tool,
    the first checkpoint that was written after it. `moment N`: the Nth event recorded, whatever it is.
    A list makes a scenario of each."""
    then: Literal["rerun", "cancel", "move on"] = "rerun"
    """`rerun`: the same turn is played again, in a new process with the same store. `cancel`: and the user
    cancels before. `move on`: nobody plays it again; the user's next message meets its checkpoint."""


class Rival(Strict, frozen=True, kw_only=True):
    """A second worker is given the turn as well. Only a loop that claims its turns is judged by it."""

    at: str
    """`request N`: while the answer to it is waited for."""


class Expect(Strict, frozen=True, kw_only=True):
    """What is special to this scenario; universal clauses are judged everywhere."""

    requests: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """Conversation requests of the turn, retries not counted."""
    status: Status | list[Status] | None = None
    """The outcome's status, or several that are all right."""
    answer: list[str] | None = None
    """The text blocks of the last reply: contained in what was shown, in order, each once."""
    shown: list[str] | None = None
    """All that the turn shows, judged where the loop gives a list."""
    tools: dict[str, int] | None = None
    """How often each client tool runs."""


class TurnScript(Strict, frozen=True, kw_only=True):
    """One user message, and what the provider does until the loop is done with it."""

    prompt: str
    script: list[Step]
    expect: Expect = Expect()
    cancel: Cancel | None = None
    limits: Limits = Limits()
    crash: Crash | None = None
    rival: Rival | None = None


class Scenario(Strict, frozen=True, kw_only=True):
    """One scripted conversation, in full: defaults filled in, short forms written out."""

    id: str
    """The file's path below its folder, without the ending: `pause/no-tools`."""
    title: str
    """One sentence: what a right loop does."""
    clauses: list[str]
    """The clauses the scenario is about."""
    why: str
    """The bug it would have caught."""
    task: Task
    turns: list[TurnScript]
    tools: list[ToolSpec] = []
    hooks: dict[HookName, str] = {}
    """Hooks that fail whenever they are called, and what they raise."""
    lanes: list[Lane] = []
    streams: Literal["both", "only", "never"] = "both"
    """`both`: variants `[json]` and `[sse]`; `only`: `[sse]`; `never`: `[json]`."""
    rules: Literal["strict", "lenient"] = "strict"
    """Whether requests the real API rejects are rejected."""
    era: EraName = CURRENT
    """The date whose fields replies have."""
    deadline: float = 10.0
    """Seconds after which a turn is stopped."""
    path: str = ""
    """The file, for messages."""

    @property
    def variants(self) -> tuple[str, ...]:
        """`json`, `sse` or both."""
        return {"both": ("json", "sse"), "only": ("sse",), "never": ("json",)}[self.streams]

    @property
    def rivals(self) -> bool:
        """Whether a second worker is given one of its turns."""
        return any(turn.rival for turn in self.turns)

    @property
    def crashes(self) -> bool:
        """Whether the loop's process is killed in some turn."""
        return any(turn.crash for turn in self.turns)
