"""Replies that stop early: TRUNC, REFUSE, WINDOW and COMPACT."""

from __future__ import annotations

from .model import COMPACTION, REFUSALS, STOP_REASONS, Clause

TRUNC = (
    Clause(
        id="TRUNC-1",
        level="MUST",
        sentence=(
            "A reply cut by `max_tokens` is not presented as a finished answer: it carries an error mark."
        ),
        reason="Half a contract, half a JSON or half a warning is stored and used as if it were whole.",
        ground="documented",
        source=STOP_REASONS,
        advice="Return a status other than completed, mark the message as an error, or raise.",
        needs=("status|shown|publish",),
    ),
    Clause(
        id="TRUNC-2",
        level="MUST",
        sentence="After a truncated reply the loop stops, or continues in the documented way it declares.",
        reason="The same request is cut at the same place again, and paid for each time.",
        ground="documented",
        source=STOP_REASONS,
        advice=(
            "Stop on `max_tokens`; or raise the limit, or ask in a user message to go on, and declare "
            "`on_max_tokens: continue`."
        ),
    ),
    Clause(
        id="TRUNC-3",
        level="MUST",
        sentence="Truncation is reported to the loop's owner, not only shown to the user.",
        reason="A limit that is too low for the work is found out from complaints.",
        ground="construction",
        source="A loop that reports problems knew this one.",
        advice="Report the truncation where other problems are reported, with the limit that was hit.",
        needs=("report",),
    ),
    Clause(
        id="TRUNC-4",
        level="MUST",
        sentence="A tool call cut by `max_tokens` is not executed, and its half is in no later request.",
        reason="A command runs with half its arguments: `rm -r /srv/old` becomes `rm -r /srv`.",
        ground="documented",
        source=STOP_REASONS,
        advice="Under `max_tokens`, drop a trailing `tool_use` block before the reply goes into the history.",
    ),
)

REFUSE = (
    Clause(
        id="REFUSE-1",
        level="MUST",
        sentence="A refusal stops: the request is not sent again, rephrased or resubmitted.",
        reason="The same refusal is bought again, and repeated attempts put the account at risk.",
        ground="documented",
        source=REFUSALS,
        advice=(
            "Treat `refusal` as final for this model; a fallback model is a choice to declare (`on_refusal: "
            "fallback`)."
        ),
    ),
    Clause(
        id="REFUSE-2",
        level="MUST",
        sentence="The user is told plainly that the model declined.",
        reason="The user sees a blank bubble or half a sentence, and tries again and again.",
        ground="documented",
        source=REFUSALS,
        advice=(
            "Show a sentence of your own and return the status refused; do not rely on the reply having text."
        ),
        needs=("status|shown|publish",),
    ),
    Clause(
        id="REFUSE-3",
        level="SHOULD",
        sentence="A refusal is not reported as a fault of the program or the provider.",
        reason="Somebody is woken at night by what the model did on purpose.",
        ground="documented",
        source=REFUSALS,
        advice="Give refusals a status of their own, and keep them out of the error channel.",
        needs=("status|report",),
    ),
    Clause(
        id="REFUSE-4",
        level="MUST",
        sentence=(
            "The refused turn does not poison the next one: no empty assistant message, no partial output "
            "of it; what was refused should not be sent again either."
        ),
        reason="Every later message of the conversation is refused too, or rejected by the API.",
        ground="documented",
        source=REFUSALS,
        advice="Leave the refused turn out of the history: the reply, and what it was refused for.",
    ),
    Clause(
        id="REFUSE-5",
        level="MUST",
        sentence="Tool calls inside refused output are not executed.",
        reason="The loop does what the model has just declined to do.",
        ground="documented",
        source=REFUSALS,
        advice="Look at the stop reason before looking for tool calls.",
        needs=("tools",),
    ),
)

WINDOW = (
    Clause(
        id="WINDOW-1",
        level="MUST",
        sentence=(
            "`model_context_window_exceeded` is treated as truncation: never as an answer, never sent again "
            "unchanged."
        ),
        reason="A cut answer passes for a whole one, or the full window is paid for again and again.",
        ground="documented",
        source=STOP_REASONS,
        advice="Handle it beside `max_tokens`; shrink the history before asking again.",
    ),
)

COMPACT = (
    Clause(
        id="COMPACT-1",
        level="MUST",
        sentence=(
            "A reply that stops for `compaction` continues: one more request, which holds its summary "
            "unchanged."
        ),
        reason="The turn ends in the middle, or the model has forgotten what it was doing.",
        ground="documented",
        source=COMPACTION,
        advice=(
            "Append the reply with its `compaction` block to the history as it came and ask again; what "
            "stands before the block may go. Of the Python SDK's stream helpers, "
            "`beta.messages.stream` keeps it."
        ),
    ),
)
