"""Removing a folder of a loop's, whatever it put there."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess


def remove(folder: str) -> None:
    """Remove it, also where folders lie deeper than Python follows them, or may not be written to."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    for words in (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        if os.path.lexists(folder):
            with contextlib.suppress(OSError):
                subprocess.run(  # noqa: S603 - a folder of ours
                    [*words, folder], check=False, stdin=subprocess.DEVNULL, capture_output=True
                )
