"""The provider misbehaves, and what comes in pieces: FAULT and STREAM."""

from __future__ import annotations

from .model import ERRORS, MESSAGES, STREAMING, Clause

RATE_LIMITS = MESSAGES.partition("messages/")[0] + "rate-limits"

FAULT = (
    Clause(
        id="FAULT-1",
        level="MUST",
        sentence="A request that was refused with `retry-after` is not sent again before that time is over.",
        reason="Earlier attempts fail as well, and use up the few the loop allows itself.",
        ground="documented",
        source=RATE_LIMITS,
        advice=(
            "Read `retry-after` from the error's response and wait at least that long, or give up; keep the "
            "header through every layer that wraps the error."
        ),
    ),
    Clause(
        id="FAULT-2",
        level="MUST",
        sentence="A request that got a 4xx which cannot pass by itself is not sent again unchanged.",
        reason="The same answer comes each time; the turn takes longer to fail, and may never end.",
        ground="documented",
        source=ERRORS,
        advice="Retry on 408, 409, 429 and 5xx alone; on any other 4xx end the turn and show what it says.",
    ),
    Clause(
        id="FAULT-3",
        level="MUST",
        sentence="A retry repeats no side effect and adds no message: it is the same request once more.",
        reason="The tool pays twice, or the model reads its question twice.",
        ground="construction",
        source="The attempt that failed, the one after it and the tool runs between them were seen.",
        advice=(
            "Retry the request, not the turn: keep what an attempt brings apart, and append to the history "
            "only what came whole."
        ),
    ),
    Clause(
        id="FAULT-4",
        level="MUST",
        sentence="An `error` event inside a stream that began with a 200 is not the end of an answer.",
        reason="Half a sentence is shown, stored and billed as the answer.",
        ground="documented",
        source=STREAMING,
        advice="Treat an `error` event as the HTTP error of that type: retry the request, or fail the turn.",
    ),
    Clause(
        id="FAULT-5",
        level="MUST",
        sentence="A stream that ends before its message does is not a finished answer.",
        reason="A connection that was lost looks like a model that had no more to say.",
        ground="documented",
        source=STREAMING,
        advice=(
            "Take a reply for whole once a stop reason has come; the SDK hands out a partial one without an "
            "error, and its `stop_reason` is None."
        ),
    ),
    Clause(
        id="FAULT-6",
        level="MUST",
        sentence="No tool runs from a stream that never completed.",
        reason="Half an input is repaired into a command nobody gave, or a retry gives the command again.",
        ground="documented",
        source=STREAMING,
        advice="Run tools once the stream has ended well; parse an input strictly, when its block is closed.",
        needs=("tools",),
    ),
    Clause(
        id="FAULT-7",
        level="MUST",
        sentence="The part of a stream that arrived before it broke does not enter the history as if whole.",
        reason="The model takes half a sentence for what it meant to say, and half a call is a 400.",
        ground="documented",
        source=STREAMING,
        advice=(
            "Drop what came, or keep its text with a message that says that it was cut; calls and thinking "
            "cannot be kept in part."
        ),
    ),
    Clause(
        id="FAULT-8",
        level="MUST",
        timed=True,
        sentence=(
            "A silent stream is bounded by the wall clock, where the loop has one; one that sends pings is "
            "alive and is waited for."
        ),
        reason="A worker hangs for ever on a dead connection, or gives up an answer that was under way.",
        ground="documented",
        source=STREAMING,
        advice=(
            "Give the whole exchange a deadline beside the timeout between two reads; pings must neither "
            "extend the deadline nor count as silence."
        ),
    ),
    Clause(
        id="FAULT-9",
        level="MUST",
        sentence=(
            "A turn that the provider failed ends with an outcome that says so; it neither hangs nor passes "
            "for an answer."
        ),
        reason="The user waits for an answer that will not come, or takes an empty one for all there is.",
        ground="construction",
        source="The last request of the turn got an error, or no whole reply.",
        advice="Catch the client's errors around the request, and end the turn as failed with what they say.",
    ),
    Clause(
        id="FAULT-10",
        level="MUST",
        sentence=(
            "After `prompt is too long` each further request is smaller than the one refused, and there are "
            "few."
        ),
        reason="The turn is stuck: the same refusal comes until a cap or the user's patience ends it.",
        ground="documented",
        source=ERRORS,
        advice=(
            "Recognise it by type and message, shorten the history once or twice, and look whether it became "
            "shorter; else end the turn and say why."
        ),
    ),
)

STREAM = (
    Clause(
        id="STREAM-1",
        level="MUST",
        sentence=(
            "Deltas add up to what was sent, wherever the fragments and the segments of the connection are "
            "cut."
        ),
        reason="An input loses its end, an emoji becomes two question marks, and only under load.",
        ground="documented",
        source=STREAMING,
        advice=(
            "Frame on bytes and decode whole lines; join `partial_json` for each index and parse it once at "
            "the block's stop, the empty string as `{}`; of the Python SDK's helpers, `beta.messages.stream` "
            "knows all blocks, `messages.stream` does not."
        ),
    ),
    Clause(
        id="STREAM-2",
        level="MUST",
        sentence="Pings, padding, pauses and unknown events change nothing.",
        reason="An answer that came whole is asked for twice, or a new event takes the loop down.",
        ground="documented",
        source=STREAMING,
        advice="Pass over events and deltas you do not know, and let a pause between two events be a pause.",
    ),
)
