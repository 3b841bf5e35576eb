"""The Claude Agent SDK: `loop-harness run --keep-alive --command 'PYTHON …/claude-agent-sdk/loop.py'`.

The adapter translates and decides nothing. PYTHON is one that has the requirements beside this file. The
agent's own tools are switched off; the turn's are an MCP server in this process. `carry` is its session.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

import claude_agent_sdk as sdk

sys.path.insert(0, str(Path(__file__).parents[1]))
from adapter import Turn, serve

HOME = tempfile.mkdtemp(prefix="sessions-")
ENDS = {
    "end_turn": "completed",
    "stop_sequence": "completed",
    "refusal": "refused",
    "max_tokens": "truncated",
}
"""What the stop reason of the last message tells the caller. Of any other, it is told nothing."""


async def loop(turn: Turn) -> dict[str, Any]:
    """Play a turn by `ClaudeSDKClient.query`, which always streams."""
    tools = [wrapped(turn, tool) for tool in turn.tools]
    options = sdk.ClaudeAgentOptions(
        tools=[],
        mcp_servers={"turn": sdk.create_sdk_mcp_server("turn", tools=tools)},
        allowed_tools=[f"mcp__turn__{tool.name}" for tool in tools],
        system_prompt=turn.system or None,
        model=turn.model,
        max_turns=turn.limits["max_iterations"],
        resume=turn.carry,
        env={
            "ANTHROPIC_BASE_URL": turn.base_url,
            "ANTHROPIC_API_KEY": turn.api_key,
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(turn.max_tokens),
            "CLAUDE_CONFIG_DIR": HOME,
        },
    )
    async with sdk.ClaudeSDKClient(options) as client:
        here = asyncio.get_running_loop()
        turn.when_cancelled(lambda: asyncio.run_coroutine_threadsafe(client.interrupt(), here))
        await client.query(turn.prompt)
        messages = [message async for message in client.receive_response()]
    said = [part for one in messages if isinstance(one, sdk.AssistantMessage) for part in one.content]
    [result] = [message for message in messages if isinstance(message, sdk.ResultMessage)]
    return {"shown": [part.text for part in said if isinstance(part, sdk.TextBlock)], **ended(result)}


def ended(result: sdk.ResultMessage) -> dict[str, Any]:
    """What the result says of the end."""
    status = "failed" if result.is_error else ENDS.get(result.stop_reason or "")
    status = "capped" if result.subtype == "error_max_turns" else status
    status = "cancelled" if (result.terminal_reason or "").startswith("aborted") else status
    detail = f"{result.subtype} {result.stop_reason} {result.terminal_reason}"
    return {"status": status, "detail": detail, "usage": result.usage, "carry": result.session_id}


def wrapped(turn: Turn, tool: dict[str, Any]) -> sdk.SdkMcpTool[Any]:
    async def call(given: Any) -> dict[str, Any]:
        said = await turn.tool(tool["name"], given)
        text = [{"type": "text", "text": said["content"]}]
        content = said["content"] if isinstance(said["content"], list) else text
        return {"content": content, "is_error": said["is_error"]}

    return sdk.SdkMcpTool(tool["name"], tool["description"], tool["input_schema"], call)


serve(loop)
