"""A cassette while it is being recorded: whatever happens to the recorder, its file is whole.

The file is only ever replaced by `rename`, by one that is complete up to some interaction. To write the whole
anew for each would cost the square of a long recording, and to append to the file in place may be cut short
by the very signal this is about: a `write` that is killed leaves a part. So two hidden files are kept, and
each interaction is appended to the one that is not in place, together with the one before it which that file
lacks; then a hard link to it takes the place. Everything is written twice, and never more often.

A process that is killed loses nothing the kernel has taken, so there is no fsync but at the end.
"""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from .model import Interaction
from .write import head, item


class Tape:
    """Adds interactions to a cassette. Without `keep`, the file stays what it was.

    With `live`, every interaction is in place as soon as it was added. Raises `OSError`.
    """

    def __init__(self, path: Path, *, live: bool = False, made_by: str = "") -> None:
        self.path = path
        self.count = 0
        self._made_by = made_by
        self._live = live
        self._kept = False
        self._folders = [folder for folder in path.parents if not folder.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path)
        self._made = live and not path.exists()
        """There was nothing, and something is put there at once."""
        self._parts = [_Part(path) for _ in range(2 if live else 1)]
        if self._made:
            self._empty()

    @property
    def latest(self) -> Path:
        """A file that has all that was added."""
        return self.path if self._live else self._parts[0].name

    def add(self, interaction: Interaction) -> None:
        """Write one interaction."""
        data = item(interaction).encode("utf-8", "surrogateescape")
        if not self.count:
            data = head(self._made_by, empty=False).encode() + data
        self.count += 1
        for part in self._parts:
            part.owes(data)
        if self._live:
            self._parts[self.count % 2].put_in_place()
        else:
            self._parts[0].write()

    def keep(self) -> None:
        """Put what was recorded in place, safe from a power cut as well."""
        if not self.count:
            self._empty()
        else:
            self._parts[self.count % len(self._parts)].put_in_place(for_good=True)
        self._kept = True

    def close(self) -> None:
        """Leave nothing but the cassette; not even that where there was none and nothing was recorded."""
        for part in self._parts:
            part.close()
        if self._made and not self.count and not self._kept:
            self.path.unlink(missing_ok=True)
        if not self.path.exists():
            with contextlib.suppress(OSError):
                for folder in self._folders:
                    folder.rmdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _empty(self) -> None:
        part = _Part(self.path)
        part.owes(head(self._made_by, empty=True).encode())
        part.put_in_place()
        part.close()


_numbers = itertools.count()
"""One process may record a cassette twice at a time."""


class _Part:
    """A hidden file, complete but for what it owes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        own = f".{path.name}.{os.getpid()}.{next(_numbers)}"
        self.name = path.with_name(f"{own}.part")
        self._link = path.with_name(f"{own}.link.part")
        self._file: BinaryIO = self.name.open("wb", buffering=0)
        self._owed: list[bytes] = []

    def owes(self, data: bytes) -> None:
        self._owed.append(data)

    def write(self) -> None:
        data = memoryview(b"".join(self._owed))
        self._owed.clear()
        while data:
            data = data[self._file.write(data) :]

    def put_in_place(self, *, for_good: bool = False) -> None:
        self.write()
        if for_good:
            os.fsync(self._file.fileno())
        self._link.unlink(missing_ok=True)
        try:
            os.link(self.name, self._link)
        except OSError:  # a file system without hard links: the slow way is right as well
            shutil.copyfile(self.name, self._link)
        self._link.replace(self._path)
        # Where both names were one file already, `rename` does nothing.
        self._link.unlink(missing_ok=True)

    def close(self) -> None:
        self._file.close()
        self.name.unlink(missing_ok=True)
        self._link.unlink(missing_ok=True)


def _sweep(path: Path) -> None:
    """Remove what a killed recording of this cassette has left."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        number = left.name[len(path.name) + 2 :].partition(".")[0]
        if number.isdigit() and not _alive(int(number)):
            with contextlib.suppress(OSError):
                left.unlink()


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
