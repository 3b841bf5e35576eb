"""Mutants that go wrong when the turn of a dead process is played again."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from harness.loops.reference import ReferenceTurn
from harness.loops.reference.effects import Call, Drop, Effect, Keep, Message, Ran
from tests.loops.mutant import breaks


@breaks("RESUME-1", on=("resume/tool-turn-after-answer-1-kept", "resume/finished-after-answer-1-kept"))
class StartsOver(ReferenceTurn):
    """Never looks for the checkpoint it keeps."""

    def resume(self) -> Generator[Effect, Any, Message | None]:
        yield from ()
        return None


@breaks("RESUME-1", on=("resume/tool-turn-after-answer-1-kept", "resume/pause-after-answer-1-kept"))
class KeepsNoReply(ReferenceTurn):
    """Writes a checkpoint after each reply, without the reply."""

    def checkpoint(self, reply: Message | None = None) -> Keep:
        return super().checkpoint(None)


@breaks("RESUME-1", on=("resume/tool-turn-after-tool-place-order",))
class KeepsAReplyWithItsResultsOnly(ReferenceTurn):
    """Writes a checkpoint before each request, and none before the tools of the reply run."""

    def checkpoint(self, reply: Message | None = None) -> Keep:
        return super().checkpoint() if reply is None else Keep("unrelated", True)

    def progress(self) -> Keep:
        return Keep("unrelated", True)


@breaks(
    "RESUME-2", on=("resume/tool-turn-after-tool-place-order-kept", "resume/parallel-after-tool-pay-power")
)
class RunsFinishedToolsAgain(ReferenceTurn):
    """Forgets, when it resumes, which calls had their results."""

    def restore(self, kept: Any) -> Message | None:
        reply = super().restore(kept)
        self.ran, self.running = {}, None
        return reply


@breaks("RESUME-2", on=("resume/tool-turn-after-tool-place-order",))
class PromisesThatAnInterruptedToolRan(ReferenceTurn):
    """Tells the model that a call went well of which nobody knows."""

    def not_run(self, call: Call) -> Ran:
        return Ran("ordered") if call.id == self.running else super().not_run(call)


@breaks("RESUME-3", on=("resume/tool-turn-after-request-2", "resume/pause-after-answer-1-kept"))
class CountsTheRerunOnly(ReferenceTurn):
    """Starts counting at zero when it resumes."""

    def restore(self, kept: Any) -> Message | None:
        reply = super().restore(kept)
        self.usage.tokens = {}
        return reply


@breaks("RESUME-3", on=("resume/tool-turn-after-request-2", "resume/finished-after-answer-1-kept"))
class CountsTheKeptReplyTwice(ReferenceTurn):
    """Adds the reply in the checkpoint to totals that hold it already."""

    def restore(self, kept: Any) -> Message | None:
        reply = super().restore(kept)
        self.usage.add(dict(self.usage.tokens))
        return reply


@breaks("CAP-1", on=("resume/capped-after-answer-2-kept",))
class CapsEachRunByItself(ReferenceTurn):
    """Grants a rerun as many requests as a turn that begins."""

    def restore(self, kept: Any) -> Message | None:
        reply = super().restore(kept)
        self.iterations = 0
        return reply


@breaks("TOOL-4", on=("resume/tool-raises-after-tool-save-file-kept",))
class KeepsResultsWithoutTheirMark(ReferenceTurn):
    """Keeps the text of a result, and not that it was an error."""

    def restore(self, kept: Any) -> Message | None:
        reply = super().restore(kept)
        self.ran = {call: Ran(ran.content) for call, ran in self.ran.items()}
        return reply


@breaks("TRUNC-1", on=("resume/truncated-after-answer-1-kept",))
class KeepsRepliesWithoutTheirStopReason(ReferenceTurn):
    """Takes a reply from the checkpoint for one that came to its end."""

    def restore(self, kept: Any) -> Message | None:
        reply = super().restore(kept)
        return None if reply is None else {**reply, "stop_reason": "end_turn"}


@breaks("RESUME-5", on=("resume/moved-on-after-answer-1-kept",))
class ResumesWhateverItFinds(ReferenceTurn):
    """Takes any checkpoint of the conversation for one of this turn."""

    def belongs_here(self, kept: Any) -> bool:
        return isinstance(kept, dict)


@breaks("RESUME-6", on=("resume/cancelled-after-tool-send-letter-kept",))
class ClearsTheFlagAtTheStart(ReferenceTurn):
    """Begins each turn by clearing what an earlier one may have left."""

    def resume(self) -> Generator[Effect, Any, Message | None]:
        yield Drop(self.turn.cancel_key)
        return (yield from super().resume())


@breaks("RESUME-4", on=("resume/second-worker",))
class WorksBesideAnother(ReferenceTurn):
    """Works on whatever turn it is given."""

    def take_turn(self) -> Generator[Effect, Any, bool]:
        yield from super().take_turn()
        return True
