"""Strands' agent as a loop: `loop-harness run --keep-alive --command 'PYTHON …/strands/loop.py'`.

The adapter translates and decides nothing. PYTHON is one that has the requirements beside this file. The
history travels as `carry`, in the framework's own form.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

from strands import Agent
from strands.models.anthropic import AnthropicModel
from strands.tools.tools import PythonAgentTool

sys.path.insert(0, str(Path(__file__).parents[1]))
from adapter import Turn, serve

ENDS = {
    "end_turn": "completed",
    "stop_sequence": "completed",
    "refusal": "refused",
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "limit_turns": "capped",
    "cancelled": "cancelled",
}
"""What the stop reason that the framework hands out tells its caller. Of any other, it is told nothing."""


async def loop(turn: Turn) -> dict[str, Any]:
    """Play a turn by `agent.invoke_async`, which always streams."""
    client = {"base_url": turn.base_url, "api_key": turn.api_key}
    agent = Agent(
        model=AnthropicModel(client_args=client, model_id=turn.model, max_tokens=turn.max_tokens),
        tools=[wrapped(turn, tool) for tool in turn.tools],
        system_prompt=turn.system or None,
        messages=turn.carry or [],
        callback_handler=None,
    )
    stop = threading.Event()
    turn.when_cancelled(stop.set)
    before, most = len(agent.messages), turn.limits["max_iterations"]
    given: Any = {"limits": {"turns": most}} if most else {}
    result = await agent.invoke_async(turn.prompt, cancel_signal=stop, **given)
    said = [message for message in agent.messages[before:] if message["role"] == "assistant"]
    texts = ["".join(map(text_of, message["content"])) for message in said]
    return {
        "status": ENDS.get(result.stop_reason),
        "detail": result.stop_reason,
        "shown": [text for text in texts if text.strip()],
        "carry": agent.messages,
    }


def text_of(block: Any) -> str:
    cited = block.get("citationsContent", {}).get("content", [])
    return block.get("text", "") + "".join(part["text"] for part in cited)


def wrapped(turn: Turn, tool: dict[str, Any]) -> PythonAgentTool:
    async def call(use: Any, **_: Any) -> Any:
        said = await turn.tool(tool["name"], use["input"])
        content = said["content"] if isinstance(said["content"], list) else [{"text": said["content"]}]
        parts = [{"text": part["text"]} for part in content if "text" in part]
        status = "error" if said["is_error"] else "success"
        return {"toolUseId": use["toolUseId"], "status": status, "content": parts}

    spec = {"description": tool["description"], "inputSchema": {"json": tool["input_schema"]}}
    return PythonAgentTool(tool["name"], {"name": tool["name"], **spec}, call)  # type: ignore[arg-type]


serve(loop, raises={"MaxTokensReachedException": "truncated", "ContextWindowOverflowException": "truncated"})
