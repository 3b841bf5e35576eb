"""Which keys of the store are whose: the checkpoint's and the cancel flag's, given or declared."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from .turn import Declaration

Kind: TypeAlias = Literal["checkpoint", "cancel"]


def given_key(kind: Kind, conversation: str) -> str:
    """The key the turn names to the loop."""
    return f"chat:{kind}:{conversation}"


def own_key(kind: Kind, conversation: str, declared: Declaration) -> str:
    """The key the loop declares as its own, where its pattern leaves open only the conversation."""
    pattern = declared.keys.get(kind, "")
    if pattern.count("*") == 1 and not set("?[") & set(pattern):
        return pattern.replace("*", conversation)
    return given_key(kind, conversation)


def is_key(kind: Kind, key: str, conversation: str, declared: Declaration) -> bool:
    """Whether `key` is of this kind: the given one, or one of those the loop declares as its own."""
    pattern = declared.keys.get(kind)
    return key.startswith(given_key(kind, conversation)) or (
        pattern is not None and fnmatchcase(key, pattern)
    )
