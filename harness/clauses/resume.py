"""A crash in mid-turn, and the rerun: RESUME."""

from __future__ import annotations

from .model import Clause

_BOTH = "Both runs of the turn, and what its store held between them, were seen."
_KEPT = ("checkpoint",)

RESUME = (
    Clause(
        id="RESUME-1",
        level="MUST",
        sentence=(
            "A rerun continues from the checkpoint: its first request extends the last one answered, and "
            "nothing answered is asked again."
        ),
        reason="The turn is paid for twice, and the second time the model may decide otherwise.",
        ground="construction",
        source=_BOTH,
        advice=(
            "Write the checkpoint as soon as a reply is there, with the reply in it, and begin a turn by "
            "looking for it."
        ),
        needs=_KEPT,
    ),
    Clause(
        id="RESUME-2",
        level="MUST",
        sentence=(
            "No tool call whose result was checkpointed runs twice; one that was running is repeated or "
            "answered with `is_error`, as declared."
        ),
        reason="The mail is sent twice, or the model is told that it was sent although nobody knows.",
        ground="construction",
        source=_BOTH,
        advice=(
            "Write the checkpoint before each tool and after it; declare `on_crash: repeat` or `answer` for "
            "the one in between."
        ),
        needs=(*_KEPT, "tools"),
    ),
    Clause(
        id="RESUME-3",
        level="MUST",
        sentence="Over both runs usage counts each reply once, and `done` is published once.",
        reason="The bill shows half of the turn or more than all of it, and clients see it end twice.",
        ground="construction",
        source=_BOTH,
        advice="Keep the totals in the checkpoint, count on from them, and record them at the end only.",
        needs=(*_KEPT, "usage|done"),
    ),
    Clause(
        id="RESUME-4",
        level="MUST",
        sentence="While one worker has a turn, another that is given it does not talk to the provider.",
        reason="A queue that delivers a job twice has it done twice: two answers, two payments.",
        ground="construction",
        source="A second worker was given the turn while the first waited for its answer.",
        advice=(
            "Take a lock on the conversation before anything else, one that ends with its process, and leave "
            "the turn alone where another has it."
        ),
        needs=("claim",),
    ),
    Clause(
        id="RESUME-5",
        level="SHOULD",
        sentence="A checkpoint older than the conversation is thrown away, not resumed.",
        reason="The user asks something new and gets the answer to what was asked before the crash.",
        ground="construction",
        source="The message was given to the loop, and no request holds it.",
        advice="Keep in the checkpoint which turn it belongs to, and compare before you resume.",
        needs=_KEPT,
    ),
    Clause(
        id="RESUME-6",
        level="MUST",
        sentence="A cancel set between the crash and the rerun holds.",
        reason="The user pressed stop while nothing ran, and a restarted worker goes on regardless.",
        ground="construction",
        source="The flag was in the store before the new process began.",
        advice=(
            "Ask `cancelled()` once the checkpoint is loaded, before anything else; do not clear it first."
        ),
        needs=(*_KEPT, "cancel"),
    ),
)
