"""How a Python process of our own is started: with our modules, found where this process found them."""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path


def python(module: str, call: str) -> list[str]:
    """The command that imports `module`, one beside this one, and makes this call to a function of it.

    Code instead of `-m`: modules are to be found where the parent finds them, ours before any other.
    """
    path = [str(entry) for entry in sys.path]
    function = call.partition("(")[0]
    run = f"from {_package()}.{module} import {function}; {call}"
    return [sys.executable, "-c", f"import sys; sys.path[:] = {path!r}; {run}"]


@functools.cache
def _package() -> str:
    """What this package is called in a host.

    Where there is a choice, by the name nobody else uses: the loop may belong to a repository that has a
    package of the other name.
    """
    ours = Path(__file__).resolve().parents[1]
    spec = importlib.util.find_spec("loop_harness")
    if spec is None or spec.origin is None:
        return str(__package__)
    found = Path(spec.origin).resolve().parent
    return "loop_harness.loops" if found in (ours, ours.parent, ours / "alias") else str(__package__)
