"""What is lent to a loop: remembered as it was, and looked at again when the loop has returned."""

from __future__ import annotations

from typing import Any

from .plain import plain

MOST = 20
"""Changes that are told; more of them say no more."""


class Lent:
    """The lists and mappings a loop was handed, each with a copy."""

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        """`messages`: the list that is handed out."""
        self._messages = messages
        self._said: list[dict[str, Any]] = plain(messages)
        self._others: list[tuple[str, Any, Any]] = []

    def remember(self, name: str, value: Any) -> None:
        """Look at `value`, which may be changed in place, again at the end."""
        if isinstance(value, (dict, list)):
            self._others.append((name, value, plain(value)))

    def changes(self) -> tuple[list[str], int]:
        """What is no longer what it was, and how many messages were appended."""
        changed = [name for name, value, was in self._others if not _is(value, was)]
        now = self._messages
        for index, was in enumerate(self._said):
            if index >= len(now):
                changed.append(f"messages, {len(self._said) - index} of which are gone")
                break
            if not _is(now[index], was):
                changed.append(f"messages[{index}]")
        return list(dict.fromkeys(changed))[:MOST], max(len(now) - len(self._said), 0)


def _is(value: Any, was: Any) -> bool:
    try:
        return bool(plain(value) == was)
    except Exception:  # noqa: BLE001 - what can no longer be written down is not what was handed over
        return False
