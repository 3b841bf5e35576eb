"""Agents with a command line of their own, without an adapter: the prompt goes in, the answer comes out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..history import Ended, Lost
from ..turn import TurnSpec
from .command import Command
from .commanded import CommandProcess
from .each_turn import EachTurnDriver
from .place import Place
from .playing import Playing
from .processes import exit_of

MOST_ANSWER = 1024 * 1024
"""Bytes of an answer."""
FIELDS = ("prompt", "system", "model", "max_tokens", "conversation", "base_url", "api_key")
"""What may stand in a command, in braces."""
_FIELD = re.compile("{(" + "|".join(FIELDS) + ")}")


class AgentDriver(EachTurnDriver):
    """Runs the command for each turn, with what it is asked in its words, else on its input.

    Exit 0 means that it answered, with what it printed; any other status that it failed.
    """

    most_output = MOST_ANSWER

    def __init__(self, command: Command, place: Place) -> None:
        super().__init__(command, place)
        self._asks_by_word = any("{prompt}" in word for word in command.words)
        self._quiet: bool | None = None
        """Whether a finished answer comes without a word on the error output."""

    def _words(self, spec: TurnSpec) -> Sequence[str]:
        def value(found: re.Match[str]) -> str:
            return str(self._place.base_url if found[1] == "base_url" else getattr(spec, found[1]))

        return [_FIELD.sub(value, word) for word in self._command.words]

    def _input(self, spec: TurnSpec, playing: Playing) -> bytes:  # noqa: ARG002 - the base's
        return b"" if self._asks_by_word else spec.prompt.encode(errors="replace")

    def _hear(self, heard: list[Any], said: dict[str, Any]) -> None:
        """An agent may print what it likes."""

    def _spoiled(self, process: CommandProcess) -> str:  # noqa: ARG002 - the base's
        """Whatever an agent prints is its answer."""
        return ""

    def _understand(self, playing: Playing, process: CommandProcess) -> None:
        code = process.died.result()
        told = self._told(process, answered=code == 0)
        if code < 0 and not playing.interrupted:
            playing.tell(Lost(reason=process.how(), output=process.stderr.text.strip()))
        elif code:
            # Failed, like what raises: a status cannot be told, since an exit code does not know which.
            failed = exit_of(code, process, interrupted=bool(playing.interrupted))
            failed.shown = told
            playing.end(failed)
        elif told or playing.asked:
            playing.end(Ended(returned="none" if told is None else "text", shown=told))
        else:
            reason = "it ended with exit 0, having neither asked the provider nor printed anything"
            playing.end(Lost(reason=reason, output=process.stderr.text.strip()))

    def _told(self, process: CommandProcess, *, answered: bool) -> list[Any] | None:
        """What the user saw; None where nobody looks."""
        if self._command.answer == "none":
            return None
        shown: list[Any] = [text] if (text := process.stdout.text.strip()) else []
        said = process.stderr.text.strip()
        if answered and self._quiet is None:
            self._quiet = not said
        # Who never complains and does so now tells the user something by it; others always write their log.
        return [*shown, said] if said and self._quiet and answered else shown
