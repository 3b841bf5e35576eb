"""Everything but the Messages endpoint itself: token counts, models, batches, files, the old completions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from ..transcript import Conversation
from ..wire.ids import Ids
from ..wire.models import ANY, LISTED, canonical_name, traits
from ..wire.usage import input_tokens
from .batches import Batches, Item, stamp
from .files import Files
from .pages import Bad, page
from .request import Request
from .routes import endpoint_of

RULED = frozenset({"messages", "count_tokens", "models", "unknown"})
"""Endpoints whose requests the rules judge; the others look at theirs themselves."""


LINES = frozenset({"haiku", "sonnet", "opus", "fable", "mythos"})


class Endpoints:
    """What one session keeps for its endpoints. `ask` has a request of a batch answered."""

    def __init__(self, ids: Ids, seed: int, ask: Callable[[Request], Item]) -> None:
        self._ids = ids
        self._batches = Batches(ids, seed, ask)
        self._files = Files(ids)

    def answer(self, request: Request, said: Conversation) -> dict[str, Any] | bytes:
        """The body that answers `request`; bytes are lines of JSON. Raises `Bad` for an error."""
        endpoint = endpoint_of(request.path)
        found = endpoint.path.fullmatch(request.path)
        groups: dict[str, Any] = found.groupdict() if found else {}
        if endpoint.name not in RULED:
            _check(request, endpoint.methods)
        name, part = groups.get("id"), groups.get("part")
        match endpoint.name:
            case "count_tokens":
                counted = {"messages": said.messages, "system": said.system, "tools": said.tools}
                return {"input_tokens": input_tokens(counted)}
            case "models":
                return model_info(canonical_name(name)) if name else _models(request)
            case "batches":
                return self._batches.answer(request, name, part, _base(request))
            case "files":
                return self._files.answer(request, name, part, stamp(datetime.now(UTC)))
            case _:
                return self._complete(request)

    def _complete(self, request: Request) -> dict[str, Any]:
        """The answer of the old Text Completions endpoint: it has no script."""
        body = request.body if isinstance(request.body, dict) else {}
        for field in ("model", "max_tokens_to_sample", "prompt"):
            if field not in body:
                raise Bad(400, f"{field}: Field required")
        return {
            "type": "completion",
            "id": self._ids.next("compl_"),
            "completion": " OK.",
            "stop_reason": "stop_sequence",
            "model": body["model"],
            "stop": "\n\nHuman:",
            "log_id": self._ids.next("compl_"),
        }


def _check(request: Request, methods: tuple[str, ...]) -> None:
    """Raise `Bad` for what every endpoint refuses."""
    if request.method in ("HEAD", "OPTIONS"):
        raise Bad(404, "Not Found")
    if request.method not in methods:
        raise Bad(405, "Method Not Allowed")
    if not request.headers.get("anthropic-version"):
        raise Bad(400, "anthropic-version: header is required")
    multipart = request.headers.get("content-type", "").lower().startswith("multipart/")
    if request.method == "POST" and request.not_json is not None and not multipart:
        raise Bad(400, f"The request body is not valid JSON: {request.not_json}")


def _base(request: Request) -> str:
    """The base URL the client used, for addresses it is told."""
    found = request.route
    prefix = ""
    if found is not None and (found.key or found.worker):
        prefix = f"/s/{found.key}" if found.key else f"/{found.worker}"
    return f"http://{request.headers.get('host', '127.0.0.1')}{prefix}"


def _models(request: Request) -> dict[str, Any]:
    return page([model_info(name) for name in LISTED], request.query)


def model_info(name: str) -> dict[str, Any]:
    """What the API tells about one model."""
    takes = traits(name)
    return {
        "type": "model",
        "id": name,
        "display_name": " ".join(part.capitalize() for part in name.split("-") if len(part) < 8),
        "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": "active",
        "deprecated_at": None,
        "retires_at": None,
        "line": next((part for part in name.split("-") if part in LINES), None),
        "max_input_tokens": takes.window if takes.window < ANY else None,
        "max_tokens": takes.max_tokens if takes.max_tokens < ANY else None,
    }
