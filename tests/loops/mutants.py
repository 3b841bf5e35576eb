"""All mutants by name: `tests.loops.mutants:exits_on_no_tool_call`; with `_async`, the asynchronous form."""

from __future__ import annotations

from typing import Any

from tests.loops import (
    mutants_cancel,
    mutants_ends,
    mutants_faults,
    mutants_history,
    mutants_kept,
    mutants_kinds,
    mutants_resume,
    mutants_slips,
    mutants_stop,
    mutants_stream,
    mutants_tools,
    threaded,
)
from tests.loops.mutant import MUTANTS, Mutant

__all__ = ["MUTANTS", "Mutant"]

FAMILIES = (
    mutants_tools,
    mutants_stop,
    mutants_history,
    mutants_kept,
    mutants_kinds,
    mutants_ends,
    mutants_cancel,
    mutants_faults,
    mutants_stream,
    mutants_resume,
    mutants_slips,
    threaded,
)


def __getattr__(name: str) -> Any:
    if name in MUTANTS:
        return MUTANTS[name].loop
    if name.removesuffix("_async") in MUTANTS:
        return MUTANTS[name.removesuffix("_async")].async_loop
    raise AttributeError(name)


def __dir__() -> list[str]:
    return [*globals(), *MUTANTS, *(f"{name}_async" for name in MUTANTS)]
