"""What the user sees: SHOW."""

from __future__ import annotations

from .model import MESSAGES, STOP_REASONS, Clause

SHOW = (
    Clause(
        id="SHOW-1",
        level="MUST",
        sentence="The text blocks of the last reply are all shown, in order.",
        reason="The user reads the preamble and never sees the answer.",
        ground="documented",
        source=MESSAGES,
        advice="Join every `text` block of the reply; do not take `content[0]`.",
        needs=("shown|publish",),
    ),
    Clause(
        id="SHOW-2",
        level="MUST",
        sentence="A reply without text adds no message to what is shown.",
        reason="The user sees an empty bubble.",
        ground="documented",
        source=STOP_REASONS,
        advice="Show a message only where its text is not blank.",
        needs=("shown|publish",),
    ),
    Clause(
        id="SHOW-3",
        level="MUST",
        sentence="Text is shown once.",
        reason="The user reads the same paragraph twice: once streamed, once whole, or once per retry.",
        ground="construction",
        source="The provider sent the text once.",
        advice="Replace a streamed preview by the finished message; start over with an empty one on a retry.",
        needs=("shown|publish",),
    ),
    Clause(
        id="SHOW-4",
        level="SHOULD",
        sentence=(
            "`activity` is not empty between a reply that reaches for a tool, client-run or server-run, and "
            "the next request."
        ),
        reason="For the user nothing seems to happen, just while the work is being done.",
        ground="construction",
        source="The loop publishes its state, and the reply said what it was about to do.",
        advice="After each reply with a tool call, publish an `activity` that names the tool, then go on.",
        needs=("publish",),
    ),
    Clause(
        id="SHOW-5",
        level="SHOULD",
        sentence="Results of tools that the provider ran reach whoever renders the turn, as blocks.",
        reason="Sources, pictures and cards that were found and paid for are never seen.",
        ground="construction",
        source="The reply held the result, and nothing the loop hands out does.",
        advice="Publish the history as it is, blocks of types you do not render included.",
        needs=("publish|history",),
    ),
    Clause(
        id="SHOW-6",
        level="MUST",
        sentence="The answer is the last reply's text: not an earlier preamble, not a tool's output.",
        reason='The user gets "Let me check." or a raw JSON dump for an answer.',
        ground="construction",
        source="The last reply was received, and something else was put in its place.",
        advice="Take the answer from the reply that ended the turn, from its text blocks only.",
        needs=("shown|publish",),
    ),
)
