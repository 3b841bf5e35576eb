"""What the API knows about model names: which exist, which take a prefill, which a system message."""

from __future__ import annotations

import re

import msgspec

ALIASES: dict[str, str] = {
    "claude-opus-4-5": "claude-opus-4-5-20251101",
    "claude-sonnet-4-5": "claude-sonnet-4-5-20250929",
    "claude-haiku-4-5": "claude-haiku-4-5-20251001",
}
"""Names the API resolves; a reply carries the canonical one."""

LISTED: tuple[str, ...] = (
    "claude-fable-5-2", "claude-fable-5-1", "claude-fable-5",
    "claude-mythos-5-2", "claude-mythos-5-1", "claude-mythos-5", "claude-mythos-preview",
    "claude-opus-5-5", "claude-opus-5", "claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6",
    "claude-opus-4-5-20251101",
    "claude-sonnet-5-5", "claude-sonnet-5", "claude-sonnet-4-6", "claude-sonnet-4-5-20250929",
    "claude-haiku-5-5", "claude-haiku-4-5-20251001",
)  # fmt: skip
"""What `GET /v1/models` lists."""

FAMILIES = frozenset({"fable", "mythos", "opus", "sonnet", "haiku", "instant", "2"})

_NAME = re.compile(r"claude-(?:[a-z]+-)?(?P<major>\d)(?:-(?P<minor>\d))?(?:-[a-z]+)?(?:-(?:\d{8}|latest))?")


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """What a model takes."""

    prefill: bool = True
    """A request may end with the beginning of the reply."""
    system_messages: bool = True
    """`role: "system"` may stand within `messages`."""
    thinking: bool = True
    """Usage tells thinking tokens apart."""


def canonical_name(model: str) -> str:
    """The name a reply carries."""
    return ALIASES.get(model, model)


def is_known(model: str) -> bool:
    """Whether the API might serve `model`: any version of a family it has, since versions come and go."""
    return any(name in FAMILIES for name in model.removeprefix("claude-").split("-")) and model.startswith(
        "claude-"
    )


def traits(model: str) -> Traits:
    """What `model` takes. A name that does not tell its version is given the benefit of the doubt."""
    found = _NAME.fullmatch(model)
    if model == "claude-mythos-preview":
        version = (4, 6)
    elif found:
        version = (int(found["major"]), int(found["minor"] or 0))
    else:
        return Traits()
    # A recording shows 4.6 refuse the system role and 4.8 take it; 4.7 is not known and let through.
    return Traits(prefill=version < (4, 6), system_messages=version > (4, 6), thinking=version > (3, 5))
