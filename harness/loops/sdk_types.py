"""What the installed client of the API makes of a reply: whether its own types take it.

The client itself never refuses: what its types do not take, it hands on as it came, and a program that relies
on the types breaks then.
"""

from __future__ import annotations

from functools import cache
from typing import Any, get_args


def version() -> str:
    """The version of the installed client."""
    import anthropic

    return anthropic.__version__


@cache
def _message(*, beta: bool) -> Any:
    from anthropic.types import Message
    from anthropic.types.beta import BetaMessage

    return BetaMessage if beta else Message


@cache
def _events(*, beta: bool) -> dict[str, Any]:
    """The client's models of events by the type they are for."""
    from anthropic.types import RawMessageStreamEvent
    from anthropic.types.beta import BetaRawMessageStreamEvent

    models = get_args(get_args(BetaRawMessageStreamEvent if beta else RawMessageStreamEvent)[0])
    return {name: model for model in models for name in get_args(model.model_fields["type"].annotation)}


def mismatches(value: Any, *, event: bool = False, beta: bool = False) -> list[str]:
    """What the client's types do not take of a message, or of an event of a stream: `content.2.type: …`."""
    from pydantic import ValidationError

    model = _message(beta=beta)
    if event:
        kind = value.get("type") if isinstance(value, dict) else None
        if kind in ("ping", "error"):
            return []  # the client keeps these to itself
        model = _events(beta=beta).get(str(kind))
        if model is None:
            return ["the client does not know this event"]
    try:
        model.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False)
        return [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in found]
    return []
