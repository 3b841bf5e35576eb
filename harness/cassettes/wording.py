"""Content of a recording as a scenario writes it: short forms, other words, nothing the provider fills in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..scenario.blocks import FORMS
from ..scenario.filler import Disguise

Json = dict[str, Any]

_OPAQUE = frozenset({"encrypted_content", "encrypted_index", "encrypted_stdout", "signature"})
_KEPT = frozenset(
    ("type", "media_type", "tool_name", "server_name", "error_code", "model", "role", "file_type")
)
"""Fields whose texts are words of the API or names of the program, not anybody's."""
_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_PAGE = "JVBERi0xLjQK"


class Wording:
    """How what was said is written down."""

    def __init__(self, disguise: Disguise, longest: int | None = None) -> None:
        self.disguise = disguise
        self._longest = longest
        self.labels: dict[str, str] = {}
        """Names of the calls whose results do not come in their order, by id."""

    def text(self, text: str) -> str:
        """A text in other words, cut where that is asked for."""
        return self.cut(self.disguise.text(text))

    def cut(self, text: str) -> str:
        """A text that is too long, up to the end of a word."""
        if self._longest is None or len(text) <= self._longest:
            return text
        return text[: self._longest].rpartition(" ")[0].rstrip() + " …"

    def block(self, block: Json) -> Json:
        """A block of a reply."""
        kind = str(block.get("type"))
        makers: dict[str, Callable[[Json], Json]] = {
            "text": self._text,
            "thinking": lambda given: {"thinking": self.text(str(given.get("thinking") or ""))},
            "redacted_thinking": lambda given: {
                "redacted_thinking": self.disguise.opaque(str(given.get("data")))
            },
            "tool_use": self._call,
            "server_tool_use": self._call,
            "mcp_tool_use": self._call,
        }
        if kind in makers:
            return makers[kind](block)
        if kind.endswith("_tool_result"):
            return self._server_result(kind, block)
        return {"type": kind, **self.structure({key: each for key, each in block.items() if key != "type"})}

    def _text(self, block: Json) -> Json:
        found: Json = {"text": self.text(str(block.get("text") or ""))}
        if block.get("citations"):
            found["citations"] = self.structure(block["citations"])
        return found

    def _call(self, block: Json) -> Json:
        fields = {"name": block.get("name"), "input": self.disguise.value(block.get("input") or {})}
        for name in ("server_name", "toolset_name"):
            if block.get(name):
                fields[name] = block[name]
        if not fields["input"]:
            del fields["input"]
        if block.get("id") in self.labels:
            fields = {"id": self.labels[str(block["id"])], **fields}
        return {str(block["type"]): fields}

    def _server_result(self, kind: str, block: Json) -> Json:
        content = self.structure(block.get("content"))
        fields: Json = {"content": content}
        if block.get("tool_use_id") in self.labels:
            fields["tool_use_id"] = self.labels[str(block["tool_use_id"])]
        if block.get("is_error"):
            fields["is_error"] = True
        return {kind: fields} if kind in FORMS else {"type": kind, **fields}

    def result(self, content: Any) -> Any:
        """What a client tool returned: a text, or blocks."""
        if isinstance(content, str):
            return self.text(content)
        if not isinstance(content, list):
            return ""
        blocks = [each for each in content if isinstance(each, dict)]
        if all(each.get("type") == "text" for each in blocks) and len(blocks) == 1:
            return self.text(str(blocks[0].get("text") or ""))
        return [self.structure(each) for each in blocks]

    def structure(self, value: Any, key: str = "") -> Any:
        """Any value of JSON in other words; what only the API reads is made short, images made small."""
        match value:
            case {"type": "base64", "media_type": str(kind), "data": str()}:
                image = kind.startswith("image/")
                data = _PIXEL if image else _PAGE
                return {"type": "base64", "media_type": "image/png" if image else kind, "data": data}
            case dict():
                return {
                    name: self.structure(each, name)
                    for name, each in value.items()
                    if name not in ("cache_control", "caller") and each is not None
                }
            case list():
                return [self.structure(each) for each in value]
            case str():
                return self._string(value, key)
        return self.disguise.value(value)

    def _string(self, value: str, key: str) -> str:
        if key in _KEPT:
            return value
        return self.disguise.opaque(value) if key in _OPAQUE else self.text(value)
