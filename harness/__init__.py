"""The conformance suite for agent loops on the Messages API.

Everything here is loaded when it is first used: importing the package costs next to nothing.
(PYTEST_DONT_REWRITE: pytest would warn that it came too late to rewrite assertions, and there are none.)
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers know the name; `typing` is not imported for it
if TYPE_CHECKING:
    from typing import Any

    from .cassettes.use import record, replay
    from .plugin import conformance
    from .turn import Declaration, Limits, Outcome, Tool, ToolError, Turn

__version__ = "0.1.0"

__all__ = [
    "Declaration",
    "Limits",
    "Outcome",
    "Tool",
    "ToolError",
    "Turn",
    "__version__",
    "conformance",
    "record",
    "replay",
]

_HOMES = {
    "Declaration": "turn",
    "Limits": "turn",
    "Outcome": "turn",
    "Tool": "turn",
    "ToolError": "turn",
    "Turn": "turn",
    "conformance": "plugin",
    "record": "cassettes.use",
    "replay": "cassettes.use",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
