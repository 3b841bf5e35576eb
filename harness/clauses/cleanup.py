"""Every exit path lands in the same place: CLEAN and USAGE."""

from __future__ import annotations

from .model import STREAMING, Clause

_HOOKS = "The loop uses the hook in other turns, and left it out in this one."

CLEAN = (
    Clause(
        id="CLEAN-1",
        level="MUST",
        sentence="When the turn is over its checkpoint is gone.",
        reason="The next message resumes a turn that ended long ago.",
        ground="construction",
        source="The loop wrote the key itself, and the turn has ended.",
        advice="Delete the checkpoint in the one place every exit passes: a `finally`.",
        needs=("checkpoint",),
    ),
    Clause(
        id="CLEAN-2",
        level="MUST",
        sentence="When the turn is over its cancel flag is gone.",
        reason="The next message is cancelled before it begins.",
        ground="construction",
        source="The flag was set for this turn, and this turn has ended.",
        advice=(
            "Delete the cancel flag in the one place every exit passes, a `finally`: "
            "`turn.store.pop(turn.cancel_key, None)`."
        ),
        needs=("cancel",),
    ),
    Clause(
        id="CLEAN-3",
        level="MUST",
        sentence="`activity` is empty in the last published state.",
        reason="A spinner turns for ever beside a finished answer.",
        ground="construction",
        source="The turn has ended, and the state that stays says that it works.",
        advice="Clear `activity` before the last publish, on every exit.",
        needs=("publish",),
    ),
    Clause(
        id="CLEAN-4",
        level="MUST",
        sentence="Exactly one publish carries `done`, and it is the last.",
        reason="The client waits for an end that never comes, or closes before the answer.",
        ground="construction",
        source=_HOOKS,
        advice="Publish with `done=True` once, at the end of the one clean-up every exit passes.",
        needs=("publish",),
    ),
    Clause(
        id="CLEAN-5",
        level="MUST",
        sentence="Usage is recorded exactly once a turn.",
        reason="A customer is billed twice, or not at all.",
        ground="construction",
        source=_HOOKS,
        advice="Add up during the turn, and record once in the clean-up every exit passes.",
        needs=("usage",),
    ),
    Clause(
        id="CLEAN-6",
        level="MUST",
        sentence="A step of the clean-up, or a hook, that fails does not hide the outcome of the turn.",
        reason="The answer was there and paid for, and is lost because a display or a counter was not.",
        ground="construction",
        source="The hook was made to fail; the turn had come to an end of its own.",
        advice="Guard each hook and each step of the clean-up by itself, report what failed, and go on.",
        needs=("publish|usage|report",),
    ),
    Clause(
        id="CLEAN-7",
        level="SHOULD",
        timed=True,
        sentence=(
            "No thread, task, child process, connection or temporary file is left that grows in number from "
            "turn to turn."
        ),
        reason="A worker that serves a thousand turns runs out of files, threads or memory.",
        ground="construction",
        source="What was alive was counted after each of three equal turns.",
        advice="Make clients and executors once, or close them with the turn; cancel and await its tasks.",
    ),
    Clause(
        id="CLEAN-8",
        level="MUST",
        timed=True,
        sentence="No request of the conversation arrives after its outcome.",
        reason="A turn that is over goes on spending, and writes into the next one.",
        ground="construction",
        source="The outcome and the request were both seen, in this order.",
        advice="Wait for, or cancel, every task the turn started before it returns.",
    ),
)

USAGE = (
    Clause(
        id="USAGE-1",
        level="MUST",
        sentence=(
            "Input and output tokens of all replies are counted, each once; of a stream the last value "
            "counts, not the sum."
        ),
        reason="Bills, budgets and limits rest on a wrong number.",
        ground="documented",
        source=STREAMING,
        advice=(
            "Add the usage of each final message; values in `message_delta` are totals and replace earlier "
            "ones."
        ),
        needs=("usage",),
    ),
    Clause(
        id="USAGE-2",
        level="MUST",
        sentence="Usage is recorded on failed, cancelled, capped, truncated and refused turns too.",
        reason="The most expensive turns are the ones nobody accounts for.",
        ground="construction",
        source="The replies of the turn reported their usage before it ended.",
        advice="Record usage in the clean-up that every exit passes, not on the way to a normal return.",
        needs=("usage",),
    ),
    Clause(
        id="USAGE-3",
        level="SHOULD",
        sentence="The iterations recorded equal the requests answered.",
        reason="Dashboards show loops that are shorter or longer than they were.",
        ground="construction",
        source="Every request and its answer was seen.",
        advice="Count one iteration for each reply received, resumed pauses included, retries not.",
        needs=("usage",),
    ),
)
