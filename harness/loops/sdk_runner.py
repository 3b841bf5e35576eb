"""The SDK's own `client.beta.messages.tool_runner` as a loop, with and without threads: an outside oracle.

The adapter translates and decides nothing: the texts are those of the messages the runner yields, the
status is the stop reason of its last one, the history is the one it would go on with. What the runner has
no notion of (cancellation, a wall clock, pauses in a row, reports, usage of the turn) is not made up here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..turn import Declaration, Outcome, Status, Tool, ToolError, Turn
from .reference import clients

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anthropic.types.beta import BetaMessage

DECLARATION = Declaration(policies={"on_max_tokens": "stop", "on_refusal": "stop", "on_tool_error": "answer"})

STATUS: dict[str | None, Status] = {
    "end_turn": "completed",
    "stop_sequence": "completed",
    "refusal": "refused",
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    # The runner goes on after these, so the last message has them only where its iterations were used up.
    "pause_turn": "capped",
    "compaction": "capped",
}
"""What the stop reason of the runner's last message tells its caller; any other is no success."""


def threaded(turn: Turn) -> Outcome:
    """The runner as it comes: over a message thread, so that each request carries only new messages."""
    return _play(turn, thread=True)


def unthreaded(turn: Turn) -> Outcome:
    """The runner without a thread: each request carries the whole history."""
    return _play(turn, thread=False)


async def async_threaded(turn: Turn) -> Outcome:
    """The asynchronous runner over a message thread."""
    return await _play_async(turn, thread=True)


async def async_unthreaded(turn: Turn) -> Outcome:
    """The asynchronous runner without a thread."""
    return await _play_async(turn, thread=False)


threaded.declaration = DECLARATION  # type: ignore[attr-defined]
unthreaded.declaration = DECLARATION  # type: ignore[attr-defined]
async_threaded.declaration = DECLARATION  # type: ignore[attr-defined]
async_unthreaded.declaration = DECLARATION  # type: ignore[attr-defined]


def _play(turn: Turn, *, thread: bool) -> Outcome:
    client = clients.client(turn.base_url).with_options(api_key=turn.api_key, max_retries=2)
    with _quietly():
        runner: Any = client.beta.messages.tool_runner(**_arguments(turn, thread, _sync_tool))
        messages = [item.get_final_message() if turn.stream else item for item in runner]
    return _outcome(messages, _history(runner))


async def _play_async(turn: Turn, *, thread: bool) -> Outcome:
    client = clients.async_client(turn.base_url).with_options(api_key=turn.api_key, max_retries=2)
    with _quietly():
        runner: Any = client.beta.messages.tool_runner(**_arguments(turn, thread, _async_tool))
        messages = [await item.get_final_message() if turn.stream else item async for item in runner]
    return _outcome(messages, _history(runner))


def _arguments(turn: Turn, thread: bool, wrapped: Callable[[Tool], Any]) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "model": turn.model,
        "max_tokens": turn.max_tokens,
        "messages": turn.messages,
        "tools": [wrapped(tool) for tool in turn.tools],
        "stream": turn.stream,
    }
    if turn.system:
        arguments["system"] = turn.system
    if turn.limits.max_iterations is not None:
        arguments["max_iterations"] = turn.limits.max_iterations
    if not thread:
        arguments["thread"] = False
    return arguments


def _sync_tool(tool: Tool) -> Any:
    from anthropic.lib.tools import BetaBuiltinFunctionTool

    class Wrapped(BetaBuiltinFunctionTool):
        name = tool.name

        def to_dict(self) -> Any:
            return _definition(tool)

        def call(self, given: object) -> Any:
            with _tool_errors():
                return tool.run(given)

    return Wrapped()


def _async_tool(tool: Tool) -> Any:
    from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool

    class Wrapped(BetaAsyncBuiltinFunctionTool):
        name = tool.name

        def to_dict(self) -> Any:
            return _definition(tool)

        async def call(self, given: object) -> Any:
            with _tool_errors():
                return await tool.arun(given)

    return Wrapped()


def _definition(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}


@contextmanager
def _tool_errors() -> Iterator[None]:
    import anthropic.lib.tools as sdk

    try:
        yield
    except ToolError as error:
        raise sdk.ToolError(error.content) from error  # type: ignore[arg-type]


@contextmanager
def _quietly() -> Iterator[None]:
    # The runner warns about what it then answers in the conversation (a tool that does not exist).
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _history(runner: Any) -> list[Any]:
    """The messages the runner would go on with, read through its one public door."""
    seen: dict[str, Any] = {}

    def look(params: dict[str, Any]) -> dict[str, Any]:
        seen.update(params)
        return params

    runner.set_messages_params(look)
    return list(seen["messages"])


def _outcome(messages: Iterable[BetaMessage], history: list[Any]) -> Outcome:
    shown, last = [], None
    for last in messages:
        text = "".join(block.text for block in last.content if block.type == "text")
        if text.strip():
            shown.append(text)
    if last is None:
        return Outcome(history=history)
    calls = last.stop_reason == "tool_use" and any(block.type == "tool_use" for block in last.content)
    status: Status = "capped" if calls else STATUS.get(last.stop_reason, "failed")
    return Outcome(status=status, shown=shown, history=history, detail=last.stop_reason)
