"""What the reference turn knows: the messages and how to keep them legal, what was shown, what was used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .effects import Block, Call, Message, Ran

THINKING = ("thinking", "redacted_thinking")
TOKENS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def blocks_of(message: Message) -> list[Block]:
    """The content of a message as blocks."""
    content: str | list[Block] = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def client_calls(content: Iterable[Block]) -> list[Call]:
    """The calls that the client has to answer; those of server-run tools are none."""
    return [
        Call(block["id"], block["name"], block.get("input"))
        for block in content
        if block.get("type") == "tool_use"
    ]


def server_calls(content: Iterable[Block]) -> list[Block]:
    """The calls of tools that the provider runs by itself."""
    return [block for block in content if block.get("type") in ("server_tool_use", "mcp_tool_use")]


def is_blank(block: Block) -> bool:
    """Whether this is a text block without text, which the API sends but does not take back."""
    return block.get("type") == "text" and not str(block.get("text", "")).strip()


def only_thinking(content: list[Block]) -> bool:
    """Whether nothing is left that can end an assistant message."""
    return all(block.get("type") in THINKING for block in content)


def thought_only(content: list[Block]) -> bool:
    """Whether the reply holds thinking and nothing else to read or do."""
    said = [block for block in content if not is_blank(block)]
    return bool(said) and only_thinking(said)


def text_of(content: Iterable[Block]) -> str:
    """The text of a reply as a reader sees it.

    Neighbouring blocks are one text, cut where citations begin and end; a block between them parts it.
    """
    parts: list[str] = []
    joined = False
    for block in content:
        if block.get("type") != "text":
            joined = False
        elif joined:
            parts[-1] += str(block.get("text", ""))
        else:
            parts.append(str(block.get("text", "")))
            joined = True
    return "\n\n".join(part for part in parts if part.strip())


def result_block(call: Call, ran: Ran) -> Block:
    """The block that answers `call`. A result without content has none: blank text is not accepted."""
    block: Block = {"type": "tool_result", "tool_use_id": call.id}
    content = ran.content
    if isinstance(content, list):
        content = [part for part in content if not is_blank(part)]
    if content if isinstance(content, list) else content.strip():
        block["content"] = content
    if ran.is_error:
        block["is_error"] = True
    return block


def answered_server_calls(messages: Iterable[Message]) -> set[str]:
    """Ids of the server-run calls whose result is in the history."""
    return {
        block["tool_use_id"]
        for message in messages
        if message["role"] == "assistant"
        for block in blocks_of(message)
        if str(block.get("type", "")).endswith("_tool_result") and "tool_use_id" in block
    }


def without_open_server_calls(messages: list[Message]) -> list[Message]:
    """The history without server-run calls that nobody will answer once another user message follows."""
    answered = answered_server_calls(messages)
    kept: list[Message] = []
    for message in messages:
        content = blocks_of(message)
        if message["role"] != "assistant":
            kept.append(message)
            continue
        open_calls = [block for block in server_calls(content) if block["id"] not in answered]
        rest = [block for block in content if block not in open_calls]
        if not open_calls:
            kept.append(message)
        elif not only_thinking(rest):
            kept.append({**message, "content": rest})
    return kept


class Tally:
    """Tokens of all replies of the turn, each counted once."""

    def __init__(self) -> None:
        self.tokens: dict[str, int] = {}

    def add(self, usage: dict[str, Any]) -> None:
        """Count the usage of one reply (of a stream: the last, cumulative values)."""
        for name in TOKENS:
            if isinstance(usage.get(name), int):
                self.tokens[name] = self.tokens.get(name, 0) + usage[name]


class Display:
    """What the user sees of this turn."""

    def __init__(self, prompt: str) -> None:
        self.prompt = prompt
        self.shown: list[dict[str, Any]] = []

    def say(self, text: str, *, is_error: bool = False) -> None:
        """Add one message, unless there is nothing to read in it."""
        if text.strip():
            self.shown.append({"role": "assistant", "content": text, "is_error": is_error})

    def state(self, activity: str, *, stopped: bool = False) -> dict[str, Any]:
        """The state to publish."""
        return {
            "messages": [{"role": "user", "content": self.prompt, "is_error": False}, *self.shown],
            "activity": activity,
            "stopped": stopped,
            "has_error": any(message["is_error"] for message in self.shown),
        }
