"""The endpoints that no script speaks for: token counts and the list of models."""

from __future__ import annotations

from typing import Any

from ..transcript import Conversation
from ..wire.models import LISTED, canonical_name
from ..wire.usage import input_tokens
from .request import Request


def side_endpoint(request: Request, conversation: Conversation) -> dict[str, Any]:
    """The body that answers a request which passed the rules."""
    if request.endpoint == "count_tokens":
        said = conversation
        counted = {"messages": said.messages, "system": said.system, "tools": said.tools}
        return {"input_tokens": input_tokens(counted)}
    _, _, name = request.path.partition("/v1/models/")
    return model_info(canonical_name(name)) if name else _model_list()


def _model_list() -> dict[str, Any]:
    data = [model_info(name) for name in LISTED]
    return {"data": data, "has_more": False, "first_id": LISTED[0], "last_id": LISTED[-1]}


def model_info(name: str) -> dict[str, Any]:
    """What the API tells about one model."""
    return {
        "type": "model",
        "id": name,
        "display_name": " ".join(part.capitalize() for part in name.split("-") if len(part) < 8),
        "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": "active",
        "deprecated_at": None,
        "retires_at": None,
        "max_input_tokens": 200000,
        "max_tokens": 64000,
    }
