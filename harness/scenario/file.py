"""The scenario file as people write it: the short form of `model.Scenario`.

A field's docstring is its documentation, in the JSON Schema and in the docs; its default is the documented
default.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from ..turn import Behaviour, Limits, ToolException
from ..wire.eras import CURRENT, EraName
from .model import Cancel, Crash, Expect, HookName, Lane, Rival, Seconds, Step, Strict, Task


class ToolFile(Strict, frozen=True, kw_only=True):
    """A client tool: what it is, and what it answers."""

    description: str | None = None
    """By default made of the name."""
    input_schema: dict[str, Any] | None = None
    """By default an object with the properties the script's calls have, none of them required."""
    result: str | list[dict[str, Any]] | None = None
    """Text or content blocks; `ok` where nothing else is written."""
    raises: str | None = None
    """The tool fails with this text."""
    exception: ToolException = "ToolError"
    """What it raises then; all but `ToolError` are Python's own."""
    delay: Seconds = 0.0
    """Seconds before it returns or raises."""
    hangs: bool = False
    """The tool never returns by itself."""
    own: dict[str, dict[str, Any] | None] | None = None
    """For loops with tools of their own: which of theirs is called in its place, by name or pattern (`Bash`,
    `*search*`), the first that is offered, and with which input (null: the call's)."""
    answers: list[Behaviour] | None = None
    """Several answers by input, in place of the keys above; the first whose `when` fits is given."""


class TurnFile(Strict, frozen=True, kw_only=True):
    """One user message and what the provider does until the loop is done with it."""

    prompt: str | None = None
    """The user's message; generated where it does not matter."""
    script: list[Step]
    """What the provider does, request by request."""
    expect: Expect = Expect()
    """What is special to this turn."""
    cancel: Cancel | None = None
    """When the user cancels."""
    limits: Limits = Limits()
    """What the turn may use up."""
    crash: Crash | None = None
    """Where the loop's process is killed."""
    rival: Rival | None = None
    """When a second worker is given the turn."""


OF_ONE_TURN = tuple(name for name in TurnFile.__struct_fields__ if name != "prompt")
"""Keys that stand at the top of a file with one turn, and of one with `turns` in those alone."""


class ScenarioFile(Strict, frozen=True, kw_only=True):
    """A scenario file."""

    title: str
    """One sentence: what a right loop does."""
    clauses: list[Annotated[str, msgspec.Meta(extra_json_schema={"pattern": "^[A-Z]+-[0-9]+$"})]]
    """Ids of the clauses the scenario is about."""
    why: str
    """The bug it would have caught, in plain words."""
    task: Task = Task()
    """What the loop is asked to do."""
    script: list[Step] | None = None
    """The script of the only turn."""
    expect: Expect | None = None
    """What is special to the only turn."""
    cancel: Cancel | None = None
    """When the user cancels the only turn."""
    limits: Limits | None = None
    """What the only turn may use up."""
    crash: Crash | None = None
    """Where the loop's process is killed in the only turn."""
    rival: Rival | None = None
    """When a second worker is given the only turn."""
    turns: list[TurnFile] | None = None
    """Several user messages in one conversation, in place of `script`, `expect`, `cancel`, `limits`, `crash`
    and `rival`."""
    tools: dict[str, ToolFile] = msgspec.field(default_factory=dict)
    """Client tools by name."""
    hooks: dict[HookName, str] = msgspec.field(default_factory=dict)
    """Hooks of the turn that fail, by name: every call of them raises an exception with this text."""
    lanes: list[Lane] = msgspec.field(default_factory=list)
    """Scripts for requests beside the conversation (a title generator, a sub-agent)."""
    streams: Literal["both", "only", "never"] = "both"
    """`both`: variants `[json]` and `[sse]`; `only`: `[sse]`; `never`: `[json]`."""
    rules: Literal["strict", "lenient"] = "strict"
    """Whether requests the real API rejects are rejected."""
    era: EraName = CURRENT
    """When the replies were given: which fields they have, and in which order."""
    deadline: Annotated[float, msgspec.Meta(gt=0)] = 10.0
    """Seconds after which a turn is stopped by force."""
