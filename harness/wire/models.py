"""What the API knows about model names: which exist, and what each takes.

The facts are data, in `models.json` beside this module; a model that is not there is given the benefit of the
doubt, since models come and go.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import msgspec

FAMILIES = frozenset({"fable", "mythos", "opus", "sonnet", "haiku", "instant", "2"})
EFFORTS = ("low", "medium", "high", "xhigh", "max")
THINKING_TYPES = ("enabled", "adaptive", "disabled", "between_tools")
ANY = 10**9
"""A limit nobody reaches, where none is known."""

_DATE = re.compile(r"-(?:\d{8}|latest)$")
_VERSION = re.compile(r"claude-(?:[a-z]+-)?(?P<major>\d)(?:-(?P<minor>\d))?(?:-[a-z]+)?")


class Traits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a model takes. The defaults are those of a model that refuses nothing any current one takes."""

    names: tuple[str, ...] = ()
    """Without a date."""
    prefill: bool = False
    """A request may end with the beginning of the reply."""
    system_messages: bool = True
    """`role: "system"` may stand within `messages`."""
    thinking_types: tuple[str, ...] = THINKING_TYPES
    """The values of `thinking.type`."""
    thinking_off: str = "never"
    """What it is told who sends `disabled` where that is refused: `never`, `by_default`, `between_tools`."""
    efforts: tuple[str, ...] = EFFORTS
    """The values of `output_config.effort`; none where the parameter itself is refused."""
    sampling: bool = True
    """`temperature`, `top_p` and `top_k` may differ from their defaults, where the version knows them."""
    forced_tools: bool = True
    """`tool_choice` may force a call."""
    binds_thinking: bool = False
    """A thinking block is good for the conversation it was made in alone."""
    max_tokens: int = ANY
    """The longest reply."""
    window: int = ANY
    """The longest prompt, in tokens."""
    long_window: int | None = None
    """The same with the beta that lengthens it."""
    whole_window: bool = False
    """Prompt and `max_tokens` together have to fit."""

    @property
    def thinking(self) -> bool:
        """It thinks, and usage tells the tokens of that apart."""
        return any(kind != "disabled" for kind in self.thinking_types)


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    aliases: dict[str, str]
    listed: tuple[str, ...]
    models: tuple[Traits, ...]


_TABLE = msgspec.json.decode(Path(__file__).with_name("models.json").read_bytes(), type=_Table)
_BY_NAME = {name: traits for traits in _TABLE.models for name in traits.names}
_UNKNOWN = Traits(prefill=True)
_LATER = Traits()

ALIASES: dict[str, str] = _TABLE.aliases
"""Names the API resolves; a reply carries the canonical one."""
LISTED: tuple[str, ...] = _TABLE.listed
"""What `GET /v1/models` lists."""


def canonical_name(model: str) -> str:
    """The name a reply carries."""
    return ALIASES.get(model, model)


def is_known(model: str) -> bool:
    """Whether the API might serve `model`: any version of a family it has, since versions come and go."""
    return any(name in FAMILIES for name in model.removeprefix("claude-").split("-")) and model.startswith(
        "claude-"
    )


@functools.lru_cache(maxsize=64)
def traits(model: str) -> Traits:
    """What `model` takes. A name that does not tell its version is given the benefit of the doubt."""
    name = _DATE.sub("", model)
    if name in _BY_NAME:
        return _BY_NAME[name]
    found = _VERSION.fullmatch(name)
    if not found:
        return _UNKNOWN
    # Prefill ended with 4.6, and what came after does not have it back.
    return _LATER if (int(found["major"]), int(found["minor"] or 0)) >= (4, 6) else _UNKNOWN
