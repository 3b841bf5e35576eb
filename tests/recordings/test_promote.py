"""Every conversation of real recordings becomes a scenario, and a right loop that plays it asks the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from harness.case import Case
from harness.cassettes.conversations import told_apart
from harness.cassettes.exchanges import talk_of
from harness.cassettes.find import find
from harness.cassettes.promote import Options, Promoted, promote
from harness.cassettes.rounds import Round, of_conversation
from harness.history import RequestSeen
from harness.loops.reference import loop
from harness.runner import CaseResult, Runner
from harness.scenario.filler import _KEPT, _words
from tests.cassettes.same_requests import Same, merged
from tests.recordings.cassettes import ABSENT, folder

pytestmark = pytest.mark.skipif(folder() is None, reason=ABSENT)

EXCEPTIONS = {
    # What a right loop does otherwise: these are the findings of `judge`.
    "test_anthropic_web_search_tool-1": "citations went back with the text",
    "test_anthropic_deferred_capability_without_tool_search_across_models-claude-haiku-4-5--1": "made up",
    "test_anthropic_to_google_deferred_capability_history_replay-1": "made up",
    # Thinking of a turn that is over was left out, as it may be.
    "test_anthropic_thinking_agui_0_1_10_drops_prefix-2": "thinking",
    # Nobody plays a request that begins the reply.
    "test_prompt_with_prefill_and_stop_sequences-1": "prefill",
    # A tool answers the same input always the same.
    "test_tools-1": "one tool is called twice with the same input",
}


@cache
def recorded() -> dict[str, list[Round]]:
    found = {}
    for cassette in find([folder() or Path()]).read():
        for number, conversation in enumerate(told_apart(talk_of(cassette).exchanges), start=1):
            name = re.sub(r"[^A-Za-z0-9_.-]", "-", cassette.path.name.removesuffix(".yaml"))
            found[f"{name}-{number}"] = of_conversation(conversation)
    return found


@cache
def promoted(*, keep_text: bool = False) -> dict[str, Promoted]:
    options = Options(keep_text=keep_text)
    return {name: promote(rounds, "a recording", name, options) for name, rounds in recorded().items()}


def test_every_conversation_becomes_a_scenario_the_loader_takes() -> None:
    assert len(promoted()) == len(recorded()) > 0
    assert promoted(keep_text=True).keys() == promoted().keys()


def test_the_same_seed_gives_the_same_scenario() -> None:
    name, rounds = next(iter(recorded().items()))

    assert promote(rounds, "a recording", name).text == promoted()[name].text
    assert promote(rounds, "a recording", name, Options(seed=2)).text != promoted()[name].text


def words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[^\W\d_]{5,}", text)}


def test_no_word_is_left_of_the_prompts_but_those_that_stand_for_others() -> None:
    common = {word for lists in _words().values() for word in lists} | _KEPT
    for name, rounds in recorded().items():
        prompts = {word for one in rounds for word in words(str(one.messages[-1].get("content")))}
        kept = words("\n".join(turn.prompt for turn in promoted()[name].scenario.turns))
        assert (kept & prompts) - common == set(), name


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")  # recordings grow old
@pytest.mark.parametrize("keep_text", [False, True], ids=["other words", "same words"])
def test_a_right_loop_that_plays_it_asks_what_was_recorded(*, keep_text: bool) -> None:
    cases = [
        Case(each.scenario, variant)
        for each in promoted(keep_text=keep_text).values()
        for variant in each.scenario.variants
    ]
    with Runner(loop, in_process=True) as runner:
        results = runner.run_all(cases)

    assert {result.id: result.reason for result in results if result.grade in ("fail", "error")} == {}
    assert [problem for result in results for problem in differences(result)] == []


def differences(result: CaseResult) -> Iterator[str]:
    rounds = [one for one in recorded()[result.scenario] if not one.rejected]
    played = [event for event in result.events if isinstance(event, RequestSeen) and not event.lane]
    # What the first request brought along was played before.
    roles = [role for role, _ in merged(rounds[0].messages)]
    before = roles[:-1].count("assistant")
    same = Same()
    for one, other in zip(rounds, played[before:], strict=False):
        same.compare(one.messages, other.body["messages"], f"{result.id} request {one.number}")
    if result.scenario not in EXCEPTIONS:
        yield from same.problems
        if len(played) - before < len(rounds):
            yield f"{result.id}: {len(played)} requests for {len(rounds)}"
