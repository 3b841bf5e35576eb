"""How often the model was asked for one reply: once a server tool has answered, it reads all of it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from .blocks import is_server_result
from .cache import Counts, tokens_in
from .codec import dumps

_EXTRA = 2
"""Output tokens of an iteration that nobody sees."""

UNBILLED = frozenset({"compaction", "advisor_message"})
"""Kinds of iterations that the totals leave out."""


class Iteration(NamedTuple):
    """One time the model was asked."""

    prompt: Counts
    output: int
    kind: str = "message"
    model: str | None = None
    declined: bool = False
    """It said nothing, and another model was asked in its place."""

    @property
    def billed(self) -> bool:
        """Whether the totals of the reply hold it."""
        return self.kind not in UNBILLED and not self.declined


def told_apart(content: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the usage lists the iterations: where they are not all of one kind."""
    return any(block.get("type") in ("compaction", "fallback", "advisor_tool_result") for block in content)


class _Run:
    """The iterations of one reply so far."""

    def __init__(self, prompt: Counts) -> None:
        self.done: list[Iteration] = []
        self._prompt = prompt
        self._output = 0
        self._open = False
        self._kind = "message"
        self._model: str | None = None

    def says(self, size: int) -> None:
        """The model wrote something of this many tokens."""
        self._output += size
        self._open = True

    def reads(self, size: int) -> None:
        """A server tool answered: the model is asked again, with its answer."""
        said = self._output
        self.ends()
        old = self._prompt
        # What the first iteration put into the cache, those after it read from there.
        self._prompt = Counts(fresh=old.fresh + said + size, read=old.read + old.created)

    def compacts(self, size: int) -> None:
        """All that was read gave way to a summary."""
        self.done.append(Iteration(self._prompt, size, "compaction"))
        self._prompt = Counts(fresh=size)

    def advised(self, model: str | None, size: int) -> None:
        """Another model gave advice."""
        self.ends()
        self.done.append(Iteration(Counts(fresh=self._prompt.fresh), size, "advisor_message", model))

    def falls_back(self, before: str | None, after: str | None) -> None:
        """Another model goes on."""
        declined = not self._open
        self.done.append(
            Iteration(self._prompt, self._output, self._kind, before or self._model, declined=declined)
        )
        self._output, self._open, self._kind, self._model = 0, False, "fallback_message", after

    def ends(self) -> None:
        """The model stopped."""
        if self._open:
            self.done.append(Iteration(self._prompt, self._output + _EXTRA, self._kind, self._model))
        self._output, self._open = 0, False


def iterations_of(
    prompt: Counts,
    content: Iterable[Mapping[str, Any]],
    written: Callable[[Mapping[str, Any]], int],
    advisor: str | None = None,
) -> list[Iteration]:
    """The iterations behind `content`, at least one.

    `written` counts what the model wrote of a block, `advisor` is the model that gives advice.
    """
    run = _Run(prompt)
    for block in content:
        match block.get("type"):
            case "compaction":
                run.compacts(written(block))
            case "fallback":
                run.falls_back(_model(block.get("from")), _model(block.get("to")))
            case "advisor_tool_result":
                run.advised(advisor, _size(block))
                run.reads(_size(block))
            case _ if is_server_result(block):
                run.reads(_size(block))
            case _:
                run.says(written(block))
    run.ends()
    said = any(each.kind not in UNBILLED for each in run.done)
    if not said and not any(each.kind == "compaction" for each in run.done):
        run.says(0)
        run.ends()
    return run.done


def _size(block: Mapping[str, Any]) -> int:
    return tokens_in(dumps(block.get("content")))


def _model(side: Any) -> str | None:
    return side.get("model") if isinstance(side, Mapping) else None
