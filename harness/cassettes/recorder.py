"""What a recording does with each exchange: redact it, look once more, write it."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from .canary import Canary, LeakError
from .model import Interaction
from .read import read
from .redact import Redactor
from .tape import Tape

SUFFIXES = (".yaml", ".yml")


class Recorder:
    """Writes interactions to the cassette at `path`. Without `keep`, the file stays what it was.

    With `live`, each interaction is in the file as soon as it was added. Raises `OSError`, and `ValueError`
    for a name that says the file is no YAML. Interactions may be added from several threads.
    """

    def __init__(
        self, path: Path, redactor: Redactor | None = None, *, live: bool = False, made_by: str = ""
    ) -> None:
        if path.suffix not in SUFFIXES:
            raise ValueError(
                f"{path}: cassettes are written as YAML; name it {path.with_suffix('.yaml').name}"
            )
        self.path = path
        self._lock = threading.Lock()
        self.redactor = redactor or Redactor()
        self._live = live
        self._made_by = made_by
        self._canary = Canary(self.redactor.known)
        self._tape = Tape(path, live=live, made_by=made_by)

    @property
    def count(self) -> int:
        """Interactions recorded so far."""
        return self._tape.count

    def add(self, interaction: Interaction) -> None:
        """Record one. Raises `LeakError` where a known secret would stay in it."""
        with self._lock:
            new = self.redactor.learn_from(interaction.request.headers, interaction.request.uri)
            self.redactor.learn_from(interaction.response.headers)
            if new and self.count:
                self._look_back()
            self._tape.add(self._kept(interaction))

    def keep(self) -> None:
        """Put what was recorded in place."""
        self._tape.keep()

    def close(self) -> None:
        """Be done with it; what was not kept is gone."""
        self._tape.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _kept(self, interaction: Interaction) -> Interaction:
        kept = msgspec.structs.replace(
            interaction,
            request=self.redactor.request(interaction.request),
            response=self.redactor.response(interaction.response),
        )
        self._canary.check(kept)
        return kept

    def _look_back(self) -> None:
        """A key is used that was not known before: what is written already may hold it."""
        earlier = read(self._tape.latest).interactions
        kept: list[Interaction] = []
        try:
            kept += map(self._kept, earlier)
        except LeakError:
            self._start_over(kept)
            raise
        if [plain(one) for one in kept] != [plain(one) for one in earlier]:
            self._start_over(kept)

    def _start_over(self, interactions: list[Interaction]) -> None:
        self._tape.close()
        self._tape = Tape(self.path, live=self._live, made_by=self._made_by)
        for interaction in interactions:
            self._tape.add(interaction)
        if self._live and not interactions:
            self._tape.keep()


def plain(interaction: Interaction) -> Interaction:
    """The interaction without its place in a file."""
    return msgspec.structs.replace(interaction, line=0)
