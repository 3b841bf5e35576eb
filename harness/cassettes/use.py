"""`record` and `replay`: one cassette for as long as a `with` block lasts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, TypeAlias, TypedDict, Unpack, get_args

from .canary import LeakError
from .player import Player
from .read import CassetteError, read
from .recorder import Recorder
from .redact import Redactor
from .search import Rule

Mode: TypeAlias = Literal["none", "once", "all"]
"""`none`: the cassette is replayed, and the network never reached. `once`: so it is where there is one, else
it is recorded. `all`: it is recorded anew."""

VARIABLE = "HARNESS_RECORD"
"""Of the environment: the mode where none is given."""

KEY = "sk-ant-harness-replay"
"""For a client that wants one; whatever key it uses is taken."""

_CREDENTIALS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


class Options(TypedDict, total=False):
    """How to use a cassette."""

    redact: Iterable[Rule]
    """Patterns and functions: what else is not kept, and not compared."""
    secrets: Iterable[str]
    """Values that must not be kept, in whatever form."""
    ignore: Iterable[str]
    """Fields of a request that need not be as recorded: `messages.*.content.*.cache_control`."""
    any_order: bool
    """Requests may come in another order than they were recorded in."""
    keep_failed: bool
    """What was recorded is kept also where the block raises."""


class ReplayError(AssertionError):
    """What was asked is not what was recorded."""


class NotRecordedError(Exception):
    """There is no recording, or it cannot be written or read."""


class Use(AbstractContextManager["Use"]):
    """A cassette in use. At its end it says what was not as recorded, or keeps what it recorded."""

    def __init__(self, path: str | Path, mode: Mode | None = None, **options: Unpack[Options]) -> None:
        """Raises `ValueError` for a mode that is none, `TypeError` for an option that is none."""
        for name in options:
            if name not in Options.__annotations__:
                known = ", ".join(Options.__annotations__)
                raise TypeError(f"a cassette has no option {name!r}; it has: {known}")
        self.path = Path(path)
        self.records = _records(self.path, mode)
        """Whether it is recorded, and not replayed."""
        self._redactor = Redactor(options.get("redact", ()), options.get("secrets", ()))
        self._ignore = list(options.get("ignore", ()))
        self._any_order = options.get("any_order", False)
        self._keep_failed = options.get("keep_failed", False)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Raises `NotRecordedError`, or `ValueError` for a path to ignore that is none."""
        from .inprocess import played, recorded

        with ExitStack() as stack:
            if self.records:
                self._recorder = stack.enter_context(self._open())
                self._recorded = stack.enter_context(recorded(self._recorder))
            else:
                self._player = self._load()
                stack.enter_context(played(self._player))
                stack.enter_context(_a_key())
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raises `ReplayError` or `LeakError` where nothing else was raised."""
        with self._stack:
            if self.records:
                self._end_recording(failed=error is not None)
            else:
                self._end_replay(error)

    def end(self, failed: BaseException | None) -> str:
        """Leave, and tell in words what `__exit__` would have raised."""
        try:
            self.__exit__(type(failed) if failed else None, failed, None)
        except (ReplayError, NotRecordedError, LeakError) as error:
            return str(error)
        return ""

    def _end_recording(self, *, failed: bool) -> None:
        problem = self._recorded.problem
        if failed and not self._keep_failed:
            return
        if problem is not None and not failed:
            raise problem if isinstance(problem, LeakError) else NotRecordedError(f"{self.path}: {problem}")
        self._recorder.keep()

    def _end_replay(self, error: BaseException | None) -> None:
        findings = self._player.finish() if error is None else self._player.findings
        if not findings:
            return
        many = len(findings) + self._player.more
        told = "\n\n".join(
            [f"{self.path}: {many} finding{'s' * (many > 1)}", *(finding.message for finding in findings)]
        )
        if error is None:
            raise ReplayError(told)
        error.add_note(told)

    def _open(self) -> Recorder:
        """Raises `ValueError` for a name that says the file is no YAML."""
        try:
            return Recorder(self.path, self._redactor)
        except OSError as error:
            raise NotRecordedError(f"{self.path} cannot be written: {error.strerror}") from error

    def _load(self) -> Player:
        if not self.path.exists():
            raise NotRecordedError(
                f'{self.path} is not recorded yet: record it with mode="once", {VARIABLE}=once in the '
                "environment, or pytest --harness-record"
            )
        try:
            cassette = read(self.path)
        except CassetteError as error:
            raise NotRecordedError(str(error)) from error
        return Player(cassette, ignore=self._ignore, redactor=self._redactor, any_order=self._any_order)


def record(path: str | Path, mode: Mode | None = None, **options: Unpack[Options]) -> Use:
    """Replay the cassette at `path` while the block lasts, or record it if `mode` says so.

    `mode` is `none` unless given here or in `HARNESS_RECORD`: the network is never reached then. `once`
    records what is not there, `all` records anew. What is recorded is kept when the block ends without an
    exception.

        with harness.record("cassettes/x.yaml"):
            answer = agent.run("What changed?")
    """
    return Use(path, mode, **options)


def replay(path: str | Path, **options: Unpack[Options]) -> Use:
    """Replay the cassette at `path` while the block lasts, whatever the environment says.

    Raises `ReplayError`, an `AssertionError`, at the end of the block where what was asked is not what was
    recorded. The options are those of `record`.
    """
    return Use(path, "none", **options)


@contextmanager
def _a_key() -> Iterator[None]:
    """A key for a client that asks nothing without one, where there is none: no recording needs a real."""
    if any(os.environ.get(name) for name in _CREDENTIALS):
        yield
        return
    before = os.environ.get(_CREDENTIALS[0])
    os.environ[_CREDENTIALS[0]] = KEY
    try:
        yield
    finally:
        if os.environ.get(_CREDENTIALS[0]) == KEY:
            del os.environ[_CREDENTIALS[0]]
            if before is not None:
                os.environ[_CREDENTIALS[0]] = before


def _records(path: Path, mode: Mode | None) -> bool:
    chosen = mode or os.environ.get(VARIABLE) or "none"
    if chosen not in get_args(Mode):
        raise ValueError(f"{chosen!r} is no mode of recording; write none, once or all")
    return chosen == "all" or (chosen == "once" and not path.exists())
