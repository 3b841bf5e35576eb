"""The sub-commands, one module each, and how any of them ends early."""

from __future__ import annotations

BROKEN = 1
USAGE = 2
HARNESS_ERROR = 3
CANNOT_BE_DRIVEN = 4
"""Exit codes; 0 is that nothing was unexpected."""


class Stop(Exception):  # noqa: N818 - it is an end, not always an error
    """The command cannot go on: the message says why and what instead, `code` is the exit code."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code
