"""Whatever a loop hands over, as a copy made of JSON types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from .mended import mended


def plain(value: object) -> Any:
    """A copy of `value` made of JSON types, taken now. Models are dumped, what cannot be is its `repr`."""
    try:
        return msgspec.json.decode(msgspec.json.encode(value, enc_hook=_dump))
    except UnicodeEncodeError:
        return mended(msgspec.to_builtins(value, str_keys=True, enc_hook=_dump))


def _dump(value: object) -> object:
    # Frameworks have texts and numbers of classes of their own.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, float)):
        return value.__int__() if isinstance(value, int) else value.__float__()
    for method in ("model_dump", "to_dict", "dict", "_asdict"):
        dump = getattr(value, method, None)
        if callable(dump) and not isinstance(value, type):
            # Pydantic's `exclude_unset` is what an SDK sends back over the wire.
            return dump(exclude_unset=True) if method == "model_dump" else dump()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterator):
        return list(value)
    return {"__repr__": repr(value)}
