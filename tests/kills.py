"""What each scenario is good for: a mutant it kills, or why it is kept although it kills none.

Most scenarios are named by a mutant. Here are the others.
"""

from __future__ import annotations

KILLS = {
    "cancel/between-tools-asyncio": "takes_an_interrupt_for_a_tool_that_failed",
    "cancel/between-tools-interrupt": "takes_an_interrupt_for_a_failure",
    "cancel/first-byte-flag": "takes_a_cancellation_for_a_failure",
    "cancel/first-byte-signal": "takes_an_interrupt_for_a_failure",
    "cancel/mid-stream-asyncio": "takes_an_interrupt_for_a_failure",
    "cancel/mid-stream-interrupt": "takes_an_interrupt_for_a_failure",
    "cancel/retry-asyncio": "takes_an_interrupt_for_a_failure",
    "cancel/retry-interrupt": "takes_an_interrupt_for_a_failure",
    "cancel/streaming": "cancels_but_asks_once_more",
    "cancel/tool-signal": "takes_an_interrupt_for_a_tool_that_failed",
    "cancel/tool-store": "finishes_its_list_of_tools",
    "cap/iterations-first": "has_no_iteration_cap",
    "cap/wall-clock-paused": "has_no_wall_clock",
    "exit/cancelled-1": "cleans_up_only_after_errors",
    "exit/cancelled-3": "cleans_up_only_after_errors",
    "exit/capped-1": "returns_instead_of_breaking",
    "exit/capped-3": "keeps_the_checkpoint",
    "exit/crashed-1": "keeps_the_checkpoint",
    "exit/crashed-3": "keeps_the_checkpoint",
    "exit/failed-1": "returns_instead_of_breaking",
    "exit/failed-3": "keeps_the_checkpoint",
    "exit/finished-1": "keeps_the_checkpoint",
    "exit/late-1": "returns_instead_of_breaking",
    "exit/late-3": "returns_instead_of_breaking",
    "exit/paused-1": "returns_instead_of_breaking",
    "exit/paused-3": "keeps_the_checkpoint",
    "exit/refused-1": "returns_instead_of_breaking",
    "exit/refused-3": "keeps_the_checkpoint",
    "exit/truncated-1": "returns_instead_of_breaking",
    "exit/truncated-3": "keeps_the_checkpoint",
    "exit/unseen-3": "lets_a_failing_hook_out",
    "fault/body-cut": "gives_up_at_once",
    "fault/connection-silent": "runs_out_of_time_in_silence",
    "fault/gateway-page": "says_everything_twice",
    "fault/kept-connection-closed": "sums_the_usage_of_a_stream",
    "fault/limited-for-good": "tries_everything_again",
    "fault/not-a-message": "stays_busy",
    "fault/refused-connection": "is_done_twice",
    "fault/slow-first-byte": "asks_again_after_the_end",
    "fault/stream-cut-after-stop": "is_done_twice",
    "fault/stream-cut-character": "gives_up_at_once",
    "fault/stream-garbage": "gives_up_at_once",
    "fault/too-large": "gives_up_in_silence",
    "pause/then-refused": "exits_on_no_tool_call",
    "pause/then-truncated": "exits_on_no_tool_call",
    "pause/twice": "exits_on_no_tool_call",
    "resume/finished-after-usage": "starts_over",
    "resume/parallel-after-tool-pay-rent-kept": "starts_over",
    "resume/pause-after-request-2": "starts_over",
    "resume/refused-after-answer-1-kept": "counts_the_kept_reply_twice",
    "resume/second-turn-after-tool-double-kept": "starts_over",
    "resume/tool-turn-after-answer-2-kept": "starts_over",
    "resume/tool-turn-after-tool-place-order-ended": "starts_over",
    "stop/sequence": "asks_again_after_the_end",
    "stream/cut-inside-events": "runs_each_call_twice",
    "stream/thinking": "strips_thinking",
    "text/blank": "shows_a_blank_bubble",
    "text/slow": "shows_the_answer_twice",
    "tool/beyond-ascii": "runs_each_call_twice",
    "tool/caller": "echoes_only_what_it_knows",
    "tool/empty-array": "runs_each_call_twice",
    "tool/nested-empties": "runs_each_call_twice",
    "tool/same-call-twice": "answers_only_the_first_call",
    "truncate/thinking-only": "takes_truncation_for_an_answer",
    "usage/cached": "sums_the_usage_of_a_stream",
}
"""Scenario to a mutant that breaks one of its declared clauses there, too."""

STAYS = {
    "resume/tool-turn-after-answer-1": (
        "The process dies before the answer is kept, so a rerun may begin again: a check that asks for more "
        "would be wrong here."
    ),
    "stream/pauses": (
        "Only a reader that takes what has come by now for all there is falls for it; a change to a decision "
        "of the reference makes none."
    ),
}
"""Scenario to why it is kept."""
