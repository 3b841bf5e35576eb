"""What the installed client of the API makes of a reply: whether its own types take it.

The client itself never refuses: what its types do not take, it hands on as it came, and a program that relies
on the types breaks then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
        return list(dict.fromkeys(_told(error.errors(include_url=False))))
    return []


def _told(errors: Iterable[Any]) -> Iterator[str]:
    """Each error; of a choice of models only what the one says whose `type` it is."""
    choices: dict[tuple[Any, ...], dict[str, list[Any]]] = {}
    for each in errors:
        place = next((n for n, part in enumerate(each["loc"]) if str(part)[:1].isupper()), None)
        if place is None:
            yield f"{_dotted(each['loc'])}: {each['msg']}"
        else:
            member = str(each["loc"][place])
            choices.setdefault(each["loc"][:place], {}).setdefault(member, []).append(each)
    for start, members in choices.items():
        inside = len(start) + 1
        fitting = [
            found for found in members.values() if not any(one["loc"][inside:] == ("type",) for one in found)
        ]
        if not fitting:
            yield f"{_dotted(start)}: none of the types that may stand here"
        for each in fitting[0] if fitting else ():
            yield f"{_dotted((*start, *each['loc'][inside:]))}: {each['msg']}"


def _dotted(place: Iterable[Any]) -> str:
    return ".".join(map(str, place))
