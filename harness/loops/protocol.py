"""Protocol 1 between the harness and a process: the lines it reads and the lines it writes.

What is written here is also the source of the JSON Schema (`loop-harness schema protocol`).
"""

from __future__ import annotations

import difflib
import json
from typing import Any, Literal

import msgspec

from ..history import Ended, Raised
from ..turn import STATUSES, Limits, Status, TurnSpec

VERSION = 1
UNSUPPORTED = 10
"""The exit code of a process that cannot do what the turn asks for."""


HOOKS: dict[str, str] = {
    "status": "tell a status with the outcome",
    "shown": "tell with the outcome what was shown",
    "history": "tell with the outcome the history that is kept",
    "usage": "POST /usage once, or tell the usage with the outcome",
    "publish": "POST /publish",
    "done": "have the last POST /publish say done",
    "report": "POST /report",
    "checkpoint": "keep a checkpoint with PUT /store/…, under the checkpoint_key of the turn",
    "tools": "offer the tools of the turn to the model, and run them with POST /tools/NAME",
    "iterations": "stop after limits.max_iterations requests",
    "wall_clock": "stop after limits.wall_clock seconds",
    "pauses": "stop after limits.pauses resumed pauses in a row",
    "arguments": "be a Python callable, which is handed the caller's own lists and not their text",
    "claim": "begin with POST /claim, and leave the turn alone where that is not granted",
    "cancel": "GET /cancelled before each request and tool",
    "asyncio": "be an asynchronous Python callable",
    "interrupt": "clean up on SIGINT",
    "signal": "clean up on SIGTERM",
}
"""How a process exposes what `turn.EXPOSABLE` names."""


class ToolLine(msgspec.Struct, kw_only=True):
    """A tool to offer to the model. Run it by `POST harness_url/tools/NAME` with the call's input."""

    name: str
    description: str
    input_schema: dict[str, Any]


class TurnLine(msgspec.Struct, kw_only=True):
    """One user message for the loop to handle, with all it needs: one line of JSON on the standard input."""

    protocol: Literal[1] = 1
    base_url: str
    """Where the Messages API is, as the environment has it in `ANTHROPIC_BASE_URL`."""
    api_key: str
    """As in `ANTHROPIC_API_KEY`. Another one in each turn."""
    harness_url: str
    """Tools and hooks are below it. As in `HARNESS_URL`."""
    model: str
    max_tokens: int
    system: str
    prompt: str
    """What the user says now."""
    messages: list[dict[str, Any]]
    """The conversation so far, the prompt last."""
    conversation: str
    """An id, the same in all turns of one conversation."""
    carry: Any = None
    """What the outcome of the conversation's last turn carried."""
    tools: list[ToolLine]
    stream: bool
    """Whether the reply is to be streamed."""
    limits: Limits
    checkpoint_key: str
    """The key of the store under which a checkpoint belongs."""
    cancel_key: str
    """The turn is cancelled when this key is in the store."""


class RaisedBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """An exception that left the loop, told by the adapter that caught it."""

    type: str
    """The name of its class."""
    bases: list[str] = []
    """The names of the classes it derives from, the nearest first."""
    message: str = ""
    traceback: str = ""


class OutcomeBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What the caller of the loop gets. Every field is optional; null, or left out, is not told."""

    status: Status | None = None
    shown: list[Any] | str | None = None
    """What this turn showed, oldest first: strings, or `{content, is_error, role}`."""
    history: Any = None
    """The conversation as the loop will keep it: role/content messages, or anything opaque."""
    usage: dict[str, Any] | None = None
    """Totals of the turn under the API's names."""
    detail: str | None = None
    """Whatever explains the status: a raw stop reason, an error text."""
    carry: Any = None
    """Opaque; handed back as `carry` in the next turn of the conversation."""
    raised: RaisedBody | None = None
    """In place of the rest, where the loop ended by an exception."""


class OutcomeLine(msgspec.Struct, kw_only=True):
    """How the turn ended: the last line of the standard output that is an object with this key.

    Or the same value as the body of `POST harness_url/outcome`. A string is the text that was shown.
    """

    outcome: OutcomeBody | str | None


class DeclarationBody(msgspec.Struct, kw_only=True):
    """What the loop's owner declares: its choices, its limits, its cache keys, whose tools it offers."""

    policies: dict[str, str] = {}
    caps: dict[str, float] = {}
    keys: dict[str, str] = {}
    raises: dict[str, str] = {}
    """The name of an exception's class, or `exit N`, to the status it stands for."""
    tools: Literal["turn", "own", "none"] = "turn"
    own_tool: str = ""
    exposes: list[str] = []


class HelloBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What a process says about itself, first of all."""

    protocol: Literal[1] = 1
    declaration: DeclarationBody | None = None


class HelloLine(msgspec.Struct, kw_only=True):
    """The first line of a process that declares something, and of each that is kept alive."""

    hello: HelloBody


class RunLine(msgspec.Struct, kw_only=True):
    """Tells a process that is kept alive to play a turn."""

    run: TurnLine


class ByeLine(msgspec.Struct, kw_only=True):
    """Tells a process that is kept alive to end; the input is closed after it."""

    bye: dict[str, Any]


class MalformedError(ValueError):
    """What a process said cannot be meant. The message says what, and what instead."""


def decoded(data: bytes) -> Any:
    """The JSON in `data`, as any language writes it. Raises `MalformedError`."""
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        raise MalformedError("not JSON that can be read: it is nested too deep") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        try:
            # Halves of surrogate pairs are taken here, integers of any size as well.
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise MalformedError(f"not JSON: {error}") from None


def turn_line(spec: TurnSpec, harness_url: str, carry: Any) -> TurnLine:
    """The turn as a process is told it."""
    tools = [
        ToolLine(name=tool.name, description=tool.description, input_schema=tool.input_schema)
        for tool in spec.tools
    ]
    return TurnLine(
        base_url=spec.base_url,
        api_key=spec.api_key,
        harness_url=harness_url,
        model=spec.model,
        max_tokens=spec.max_tokens,
        system=spec.system,
        prompt=spec.prompt,
        messages=spec.messages,
        conversation=spec.conversation,
        carry=carry,
        tools=tools,
        stream=spec.stream,
        limits=spec.limits,
        checkpoint_key=spec.checkpoint_key,
        cancel_key=spec.cancel_key,
    )


def read_outcome(value: Any) -> tuple[Ended, Any]:
    """The event for an outcome, and what the loop carries. Raises `MalformedError`."""
    if value is None:
        return Ended(returned="none"), None
    if isinstance(value, str):
        return Ended(returned="text", shown=[value]), None
    if isinstance(value, dict) and value.get("usage") == []:
        value = {**value, "usage": {}}  # in PHP an empty array is both
    body = _read(value, OutcomeBody, "outcome")
    if body.raised is not None:
        said = body.raised
        raised = Raised(
            type=said.type,
            bases=list(dict.fromkeys([said.type, *said.bases])),
            message=said.message,
            traceback=said.traceback,
        )
        return Ended(returned="raised", raised=raised), None
    shown = [body.shown] if isinstance(body.shown, str) else body.shown
    event = Ended(
        status=body.status,
        shown=shown,
        history=body.history,
        usage=body.usage,
        detail=body.detail,
        carry=body.carry is not None,
    )
    return event, body.carry


def read_hello(value: Any) -> dict[str, Any]:
    """What a process declares. Raises `MalformedError`."""
    if isinstance(value, dict) and value.get("protocol", VERSION) != VERSION:
        raise MalformedError(f"hello: this is protocol {VERSION}, not {value['protocol']!r}")
    if isinstance(value, dict) and isinstance(value.get("declaration"), dict):
        # What can be declared is checked where all declarations are put together.
        rest = {name: each for name, each in value.items() if name != "declaration"}
        _read(rest, HelloBody, "hello")
        return dict(value["declaration"])
    _read(value, HelloBody, "hello")
    return {}


def _read(value: Any, form: type[Any], name: str) -> Any:
    fields: tuple[str, ...] = form.__struct_fields__
    if not isinstance(value, dict):
        raise MalformedError(f"{name}: an object with {', '.join(fields)}, not {_brief(value)}")
    if unknown := [key for key in value if key not in fields]:
        near = difflib.get_close_matches(unknown[0], fields, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise MalformedError(f"{name}: there is no field {unknown[0]!r}{hint} (one of {', '.join(fields)})")
    status = value.get("status")
    if form is OutcomeBody and status is not None and status not in STATUSES:
        near = difflib.get_close_matches(str(status), STATUSES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise MalformedError(f"{name}: status: one of {', '.join(STATUSES)}, not {_brief(status)}{hint}")
    try:
        return msgspec.convert(value, form)
    except msgspec.ValidationError as error:
        raise MalformedError(f"{name}: {str(error).replace('`$.', '`')}") from None


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
