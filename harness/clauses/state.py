"""The history is the state: HIST and THREAD."""

from __future__ import annotations

from .model import ERRORS, MESSAGES, RECORDED_PAIRS, STOP_REASONS, THINKING, TOOL_CALLS, Clause

HIST = (
    Clause(
        id="HIST-1",
        level="MUST",
        sentence=(
            "Assistant content goes back exactly as it came: the same blocks in the same order with the "
            "same fields, unknown ones included."
        ),
        reason="The model no longer knows what it said or did, and repeats or contradicts itself.",
        ground="documented",
        source=TOOL_CALLS,
        advice=(
            "Append the received `content` array itself; do not rebuild its blocks from the fields you know."
        ),
    ),
    Clause(
        id="HIST-2",
        level="MUST",
        sentence=(
            "Nothing sent or received is changed in a later request of the turn, and nothing should be "
            "dropped or put in between: the history only grows."
        ),
        reason="The model works from a record that is not what happened, and the prompt cache never hits.",
        ground="construction",
        source="Both requests were seen, and the later one says something else about the earlier.",
        advice="Append to one list of messages, and never write into what is already there.",
    ),
    Clause(
        id="HIST-3",
        level="MUST",
        sentence="Every request is one the API accepts.",
        reason="The turn ends in a 400 that no retry can cure.",
        ground="documented",
        source=ERRORS,
        advice="Read the provider's message: it names the path of the offending field as the API does.",
    ),
    Clause(
        id="HIST-4",
        level="MUST",
        sentence=(
            "Thinking, its signature and redacted thinking are untouched and in place throughout a tool turn."
        ),
        reason="The API refuses the request, or the model loses the reasoning behind its own calls.",
        ground="documented",
        source=THINKING,
        advice=(
            "Send thinking blocks back whole, empty ones with a signature too; do not filter by block type."
        ),
    ),
    Clause(
        id="HIST-5",
        level="MUST",
        sentence="Content made of several blocks, or of any block but text, is never flattened to a string.",
        reason="Calls, results and thinking vanish from the conversation as the model sees it.",
        ground="documented",
        source=MESSAGES,
        advice="Store content as the array it is, also in the database; turn it into text only for display.",
    ),
    Clause(
        id="HIST-6",
        level="MUST",
        sentence="No blank text block and no empty content is ever sent.",
        reason="The API refuses this request, and every later one of the conversation.",
        ground="documented",
        source=STOP_REASONS,
        advice="Leave out text blocks that are blank after stripping, and replies that have no content.",
    ),
    Clause(
        id="HIST-7",
        level="SHOULD",
        sentence="Model, system prompt and tools stay the same within a turn.",
        reason=(
            "The prompt cache is lost at each step, and the model meets other rules in the middle of its "
            "work."
        ),
        ground="documented",
        source=TOOL_CALLS,
        advice="Build the request's parameters once, before the loop, and change the messages only.",
    ),
    Clause(
        id="HIST-8",
        level="MUST",
        sentence=(
            "However the turn ended, the history it leaves is accepted with the next user message appended: "
            "no call without its result, no result without its call."
        ),
        reason="The conversation is dead: each further message fails with a 400.",
        ground="recorded",
        source=RECORDED_PAIRS,
        advice=(
            "On every exit, answer open calls with an `is_error` result, or drop the reply that made them."
        ),
    ),
    Clause(
        id="HIST-9",
        level="MUST",
        sentence=(
            "The saved history holds nothing that was neither sent nor received, except results and notes "
            "for calls that did not run."
        ),
        reason="The next turn rests on words nobody said.",
        ground="construction",
        source="Every request and reply of the conversation was seen.",
        advice="Save the messages as they were sent and received; keep error texts for the user out of them.",
        needs=("history|publish",),
    ),
    Clause(
        id="HIST-10",
        level="MUST",
        sentence=(
            "Ids are unique in every request, and no result stands there without its call, also after old "
            "turns were dropped."
        ),
        reason="A history that was cut in the wrong place is refused from then on.",
        ground="recorded",
        source=RECORDED_PAIRS,
        advice=(
            "Cut a history before a message of the user that holds no results, never between two of a pair."
        ),
    ),
    Clause(
        id="HIST-11",
        level="MUST",
        sentence=(
            "A turn's first request holds what the user says in it and, of the conversation that was handed "
            "in or that the loop left behind, at least the answer before."
        ),
        reason="The model answers the question before, or does not know what the user speaks of.",
        ground="construction",
        source="The message and the conversation were handed to the loop, and its request was seen.",
        advice="Begin with the messages you were given, the user's last; shorten them from the front.",
    ),
)

THREAD = (
    Clause(
        id="THREAD-1",
        level="MUST",
        sentence=(
            "A threaded conversation continues with new messages only, and one whose thread is gone is "
            "replayed in full."
        ),
        reason="The model reads everything twice, or the conversation ends where the thread did.",
        ground="documented",
        source=MESSAGES,
        advice=(
            "With `thread: {type: continue}` send what is new; on `thread_not_found` send the whole history "
            "and `thread: {type: create}`."
        ),
    ),
)
