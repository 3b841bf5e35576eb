"""Kinds of fault that public loops were reported for: each has a scenario, and a mutant that shows it."""

from __future__ import annotations

import pytest

from harness.scenario.discover import find_scenarios
from tests.loops.mutants import MUTANTS

KINDS: dict[str, tuple[str, str]] = {
    # What a stop reason asks for.
    "a pause is taken for the end of the turn": ("pause/no-tools", "exits_on_no_tool_call"),
    "a paused turn is resumed without its container": ("pause/container", "forgets_the_container"),
    "a stop reason nobody knew passes for success": ("stop/unknown", "takes_an_unknown_stop_for_the_end"),
    "a cut reply is stored as a whole answer": ("truncate/text", "takes_truncation_for_an_answer"),
    "a cut call is run with half its input": ("truncate/tool-partial", "runs_a_cut_call"),
    "a refusal is tried again": ("refuse/no-details", "retries_a_refusal"),
    "a refused turn makes every later one refused": ("refuse/partial", "keeps_the_refused_reply"),
    "a full context window goes unnoticed": ("truncate/window", "takes_a_full_window_for_an_answer"),
    "stop reason and blocks disagree, and the loop spins": ("tool/stop-without-call", "spins_without_a_call"),
    "an empty reply is tried again and again": ("tool/empty-end", "asks_the_same_after_an_empty_reply"),
    "a reply that only thought is an answer": ("thinking/only", "is_done_without_a_word"),
    # Calls and their results.
    "a cancelled call stays without a result": ("cancel/tool", "leaves_calls_dangling"),
    "a call stays without a result after an exception": ("tool/raises", "fails_with_the_call_open"),
    "a result outlives its call in a shortened history": ("history/long", "cuts_between_pairs"),
    "parallel results go back in several messages": ("tool/parallel", "sends_results_one_by_one"),
    "something stands before the results": ("tool/one", "puts_text_before_results"),
    "two calls have one id": ("history/long", "numbers_calls_within_their_reply"),
    # The history.
    "blank text is kept and sent": ("tool/blank-text-beside", "keeps_blank_text"),
    "a request ends with the model's own words": ("truncate/text", "continues_by_prefill"),
    "thinking or its signature is dropped": ("thinking/tool-turn", "loses_the_signature"),
    "redacted thinking is dropped": ("thinking/redacted", "drops_redacted_thinking"),
    "blocks become a string": ("text/structured", "flattens_content"),
    "blocks of server-run tools are dropped": ("tool/server-run", "drops_server_tool_blocks"),
    "server-run and client calls are mixed up": ("tool/mixed", "answers_server_calls"),
    "cache marks pile up": ("tool/many-steps", "marks_every_message"),
    "the system prompt grows": ("tool/chained", "rewrites_the_system_prompt"),
    # Streams, and a provider that fails.
    "an error inside a stream is passed over": ("fault/stream-error", "passes_over_error_events"),
    "a stream that ends early is complete": ("fault/stream-end", "takes_the_end_of_the_bytes_for_the_end"),
    "a tool runs on what a broken stream brought": ("fault/stream-cut-call", "salvages_calls"),
    "the fragments of an input are put together wrongly": (
        "stream/escapes",
        "reads_fragments_by_themselves",
    ),
    "events are cut where the reads are": ("stream/byte-by-byte", "decodes_each_read_by_itself"),
    "a silent stream holds the turn": ("fault/stream-silent", "gives_a_stream_time_of_its_own"),
    "a retry says or does things twice": ("fault/overloaded-once", "says_everything_twice"),
    "the time to wait for is not waited for": ("fault/retry-after", "has_a_backoff_of_its_own"),
    "a permanent error is tried again": ("fault/rejected", "tries_everything_again"),
    "a prompt that is too long is sent again": ("fault/prompt-too-long", "sends_what_is_too_long_again"),
    # What ends a turn from outside.
    "there is no cap": ("cap/iterations", "has_no_iteration_cap"),
    "the cap ends the turn in silence": ("cap/iterations", "hits_the_cap_in_silence"),
    "the cap is off by one": ("cap/iterations-one", "allows_one_iteration_too_many"),
    "a budget is recorded and not enforced": ("cap/slow-tool", "has_no_wall_clock"),
    "a tool that hangs is waited for": ("cap/hanging-tool", "waits_for_a_tool_for_ever"),
    "a cancelled turn goes on": ("cancel/between-requests", "cancels_but_asks_once_more"),
    # Tools.
    "a tool that does not exist ends the turn": ("tool/unknown", "crashes_on_unknown_tools"),
    "a tool that raises ends the turn": ("tool/raises", "gives_up_when_a_tool_raises"),
    "a failure is not marked, or has no words": (
        "tool/raises-in-silence",
        "says_nothing_of_a_silent_failure",
    ),
    "parallel results are swapped": ("tool/parallel", "swaps_results"),
    # What is shown and counted.
    "only the first text is shown": ("text/two", "shows_the_first_text_only"),
    "a blank bubble, or the wrong text, is the answer": ("tool/tools-only", "shows_a_blank_bubble"),
    "the usage of a stream is counted twice": ("usage/tool-turn", "sums_the_usage_of_a_stream"),
    "the usage of what failed is lost": (
        "fault/stream-error-after-tool",
        "forgets_what_a_broken_stream_used",
    ),
    "a step of the clean-up hides the outcome": ("exit/uncounted-1", "lets_a_failing_hook_out"),
    "the spinner turns on after a failure": ("fault/rejected", "stays_busy_when_it_fails"),
}
"""In words of its own: the scenario it shows in, and the mutant that has it."""

SCENARIOS = {scenario.id for scenario in find_scenarios()}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_shown_by_a_mutant_in_a_scenario(kind: str) -> None:
    scenario, mutant = KINDS[kind]

    assert scenario in SCENARIOS
    assert scenario in MUTANTS[mutant].scenarios


def test_no_mutant_stands_for_two_kinds() -> None:
    mutants = [mutant for _, mutant in KINDS.values()]

    assert len(KINDS) == 52
    assert len(set(mutants)) == len(mutants)
