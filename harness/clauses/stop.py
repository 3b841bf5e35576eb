"""The stop reason is the branch condition: END, TOOL and PAUSE."""

from __future__ import annotations

from .model import PARALLEL_TOOLS, RECORDED_PAIRS, SERVER_TOOLS, STOP_REASONS, THINKING, TOOL_CALLS, Clause

END = (
    Clause(
        id="END-1",
        level="MUST",
        sentence=(
            "After a reply that ends the turn with content, the conversation makes no further request in "
            "this turn."
        ),
        reason="The user pays for requests nobody asked for, and may see a second answer replace the first.",
        ground="documented",
        source=STOP_REASONS,
        advice="Leave the loop on `end_turn` and `stop_sequence`; ask again only when the user does.",
    ),
    Clause(
        id="END-2",
        level="MUST",
        sentence=(
            "An `end_turn` with empty content ends the turn without a crash, and no later request holds an "
            "empty assistant message."
        ),
        reason="The loop dies on `content[0]`, or the empty message it kept makes every later request a 400.",
        ground="documented",
        source=STOP_REASONS,
        advice="Never index into `content`; append a reply to the history only when it has content.",
    ),
    Clause(
        id="END-3",
        level="SHOULD",
        sentence=(
            "A reply of nothing but thinking is no answer: its thoughts are not shown as one, and the turn "
            "does not end as completed with nothing said."
        ),
        reason="The user reads the model's notes, or is told that all is done and sees nothing.",
        ground="documented",
        source=THINKING,
        advice=(
            "Take the answer from text blocks only; where there is none, ask again a bounded number of times "
            "or end the turn with words of your own."
        ),
        needs=("status|shown|publish",),
    ),
)

TOOL = (
    Clause(
        id="TOOL-1",
        level="MUST",
        sentence="A reply that stops for `tool_use` continues: its tools run and their results go back.",
        reason=(
            "The model asked for something and never heard back: the user gets a promise instead of an "
            "answer."
        ),
        ground="documented",
        source=TOOL_CALLS,
        advice=(
            "On `tool_use`, run the calls and send one more request with their results, also when the reply "
            "has no text."
        ),
    ),
    Clause(
        id="TOOL-2",
        level="MUST",
        sentence="Every client tool call of a reply has exactly one result with its id in the next message.",
        reason=(
            "The API refuses the next request, and the conversation stays broken until somebody repairs it."
        ),
        ground="recorded",
        source=RECORDED_PAIRS,
        advice=(
            "Build the results by going over the calls of the reply, one result for each, also for calls "
            "that failed or did not run."
        ),
    ),
    Clause(
        id="TOOL-3",
        level="MUST",
        sentence=(
            "Results come first in their message and each is that of its own call, pictures and files "
            "included; they should share one message, keep the order of the calls, wait for their tools, "
            "and call none failed that is not."
        ),
        reason="The model reads one tool's output as another's, never sees it, or stops calling in parallel.",
        ground="documented",
        source=PARALLEL_TOOLS,
        advice=(
            "Pair results with calls by id, never by the order in which they finish; put text after the "
            "results."
        ),
    ),
    Clause(
        id="TOOL-4",
        level="MUST",
        sentence=(
            "A tool that raises is answered with `is_error: true` and a text that says what failed, and the "
            "turn goes on; under the policy `on_tool_error: raise` the turn fails loudly instead."
        ),
        reason="One failing tool takes the whole conversation down, or the model believes that it worked.",
        ground="documented",
        source=TOOL_CALLS,
        advice="Catch the tool's exception and send its text as a result with `is_error: true`.",
    ),
    Clause(
        id="TOOL-5",
        level="MUST",
        sentence=(
            "A call to a tool that was not offered is answered with `is_error: true`, and the turn goes on."
        ),
        reason="A name the model made up ends the turn with a traceback, or leaves its call unanswered.",
        ground="documented",
        source=TOOL_CALLS,
        advice=(
            "Look the tool up with a default, and answer an unknown name with an error that lists the known "
            "ones."
        ),
    ),
    Clause(
        id="TOOL-6",
        level="MUST",
        sentence="Each tool call runs once, with exactly the input the model gave; no arguments mean `{}`.",
        reason="A payment is made twice, or a tool works on arguments the model never wrote.",
        ground="construction",
        source="The input was received whole; what the tool gets can be compared with it.",
        advice="Hand the parsed `input` over as it is; take an empty argument text of a stream for `{}`.",
        needs=("tools",),
    ),
    Clause(
        id="TOOL-7",
        level="MUST",
        sentence=(
            "Calls of server-run tools (`server_tool_use`, `mcp_tool_use`) are neither executed nor "
            "answered by the client."
        ),
        reason="A result for a call that was not the client's is refused, and the conversation with it.",
        ground="recorded",
        source=RECORDED_PAIRS,
        advice="Run and answer blocks of type `tool_use` only; leave every other block in place.",
    ),
    Clause(
        id="TOOL-8",
        level="MUST",
        sentence=(
            "Where client and server tools are called in one reply, only the client calls are answered, and "
            "that message holds nothing but results."
        ),
        reason="The server's call can no longer be finished: the API refuses the request.",
        ground="documented",
        source=SERVER_TOOLS,
        advice=(
            "Send the reply back unchanged, then one message with the results of the `tool_use` blocks alone."
        ),
    ),
    Clause(
        id="TOOL-9",
        level="MUST",
        timed=True,
        sentence="A slow tool costs its siblings nothing: the results of the others reach the model.",
        reason="Work that was done, and perhaps paid for, is lost because of a neighbour.",
        ground="construction",
        source="The sibling's result was there when the turn went on.",
        advice="Give every tool its own time limit, and collect results one by one.",
        needs=("tools",),
    ),
    Clause(
        id="TOOL-10",
        level="MUST",
        sentence=(
            "A `tool_use` stop without a client tool call does not make the loop spin: it ends soon, and "
            "the outcome is not that of a finished answer."
        ),
        reason="The loop sends empty user messages, or asks the same question until the money is gone.",
        ground="construction",
        source="There is nothing to run and nothing to send back.",
        advice="Where `tool_use` comes without a `tool_use` block, end the turn as failed and say so.",
    ),
    Clause(
        id="TOOL-11",
        level="MUST",
        sentence="Tool calls under any stop reason other than `tool_use` are not executed.",
        reason="A half-written call deletes a file the model never named.",
        ground="documented",
        source=STOP_REASONS,
        advice="Run tools only in the branch for `tool_use`, not wherever a `tool_use` block is found.",
        needs=("tools",),
    ),
)

PAUSE = (
    Clause(
        id="PAUSE-1",
        level="MUST",
        sentence=(
            "A paused reply is resumed by one more request, although there is nothing for the client to do."
        ),
        reason="The user gets half an answer, and nothing says that it is one.",
        ground="documented",
        source=STOP_REASONS,
        advice="Look at `pause_turn` before asking whether there are tool calls, and continue there.",
    ),
    Clause(
        id="PAUSE-2",
        level="MUST",
        sentence=(
            "The resuming request is the same history with the paused content as its last message, "
            'unchanged: no "continue", no prefill, nothing left out.'
        ),
        reason="The server cannot pick up where it stopped: it starts over, or refuses the request.",
        ground="documented",
        source=SERVER_TOOLS,
        advice="Append `{role: assistant, content: reply.content}` and send again; add no user message.",
    ),
    Clause(
        id="PAUSE-3",
        level="MUST",
        sentence=(
            "The resuming request offers the same tools under the same beta headers, and names the "
            "container that came back."
        ),
        reason=(
            "The paused call's tool is gone, so the API refuses the request; or the files in the container "
            "are."
        ),
        ground="documented",
        source=SERVER_TOOLS,
        advice=(
            "Keep the request's parameters in one place, and set `container` from the last reply that had "
            "one."
        ),
    ),
    Clause(
        id="PAUSE-4",
        level="SHOULD",
        sentence="Pauses in a row are bounded, and the turn says so when the bound stops it.",
        reason="A server that keeps pausing keeps the loop, and the bill, running.",
        ground="documented",
        source=STOP_REASONS,
        advice="Count resumes in a row, and end the turn as capped, with a report, when there were too many.",
    ),
    Clause(
        id="PAUSE-5",
        level="MUST",
        sentence="The text of a paused reply alone is never the final answer.",
        reason='The user reads "Let me look that up." and waits for what never comes.',
        ground="documented",
        source=STOP_REASONS,
        advice=(
            "Take the answer from a reply that ended; where the turn stops on a pause, mark it as unfinished."
        ),
        needs=("status|shown|publish|report",),
    ),
)

UNKNOWN = (
    Clause(
        id="UNKNOWN-1",
        level="MUST",
        sentence=(
            "A stop reason the loop does not know ends the turn without a crash and is not a success, and "
            "the raw value can be read."
        ),
        reason="The day the API adds a reason, answers break silently or every conversation crashes.",
        ground="documented",
        source=STOP_REASONS,
        advice="Give the branch a default: failed, with the raw stop reason in the detail and the report.",
    ),
)

GENERAL = (
    Clause(
        id="BOUND-1",
        level="MUST",
        sentence=(
            "A turn ends before the scenario's deadline, and not with a crash where it could have ended well."
        ),
        reason="A worker is lost for good, and the user waits for an answer that never comes.",
        ground="construction",
        source="The provider had answered everything it was asked.",
        advice="Bound every wait, and let every branch lead to an exit.",
    ),
    Clause(
        id="EXPECT",
        level="MUST",
        sentence=(
            "What the scenario itself expects holds: its requests, its status, its answer, its tool runs."
        ),
        reason="The scenario's own `why` says it.",
        ground="construction",
        source="The scenario's script leaves one right course.",
        advice="Read the scenario: `loop-harness explain` shows its script and what it expects.",
    ),
)
