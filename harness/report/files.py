"""Where reports go: a file that is replaced at once, a folder of them, or an output."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path


def check_writable(path: Path, *, folder: bool = False) -> None:
    """Raise the `OSError` that writing the report would: better before a run than after it."""
    if folder:
        path.mkdir(parents=True, exist_ok=True)
        path = path / "report"
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if _is_stream(path):
        return
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    Path(name).unlink()


def write(path: Path, text: str) -> None:
    """Write the report so that a reader finds the old file or the whole new one. Raises `OSError`.

    A pipe or a device cannot be replaced, and is written to. The summary of a GitHub job is added to: other
    steps may have written there.
    """
    data = text.encode("utf-8", "replace")
    if _is_stream(path):
        path.write_bytes(data)
        return
    if path.is_file() and os.environ.get("GITHUB_STEP_SUMMARY") == str(path):
        data = path.read_bytes() + data
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    unfinished = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        unfinished.chmod(0o666 & ~_umask())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def write_folder(path: Path, files: Mapping[str, str]) -> None:
    """Write each of the `files` into a folder, as `write` does."""
    path.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        write(path / name, text)


def _is_stream(path: Path) -> bool:
    """Whether `path` is something other than a file: `/dev/stdout`, a named pipe."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _umask() -> int:
    """The mask of this process: what `mkstemp` makes only its owner can read, and a report is for others."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
