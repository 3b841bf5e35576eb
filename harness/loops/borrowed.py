"""The environment a loop finds: the provider's address, a key of its own, no proxy and no credentials."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Mapping

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
CREDENTIALS = ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_PROFILE")
"""What would make a client send an owner's own credentials."""

_LENT: list[Mapping[str, str | None]] = []
"""What was lent and not yet given back. Several loops may be played in one process, and end in any order."""
_BEFORE: dict[str, str | None] = {}
"""What is put back when the last of them is given back."""
_LOCK = threading.Lock()


def environment(base_url: str, api_key: str) -> dict[str, str | None]:
    """Variables by which a client finds the provider and nothing else; None: not set."""
    return {
        "ANTHROPIC_BASE_URL": base_url,
        "ANTHROPIC_API_KEY": api_key,
        "NO_PROXY": "*",
        "no_proxy": "*",
        **dict.fromkeys(PROXIES + CREDENTIALS),
    }


def set_environment(values: Mapping[str, str | None]) -> None:
    """Set the variables of this process; those that are None are removed."""
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@contextlib.contextmanager
def borrowed_environment(values: Mapping[str, str | None]) -> Iterator[None]:
    """Set the variables of this process, and put back what was there when nobody needs them any more."""
    mine = dict(values)
    with _LOCK:
        _BEFORE.update((name, os.environ.get(name)) for name in mine if name not in _BEFORE)
        _LENT.append(mine)
        set_environment(mine)
    try:
        yield
    finally:
        with _LOCK:
            # Two may be equal: it is this one that is given back.
            del _LENT[next(place for place, lent in enumerate(_LENT) if lent is mine)]
            set_environment(_LENT[-1] if _LENT else _BEFORE)
            if not _LENT:
                _BEFORE.clear()
