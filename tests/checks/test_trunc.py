"""TRUNC on histories written by hand."""

from __future__ import annotations

import pytest

from tests.checks.histories import Story, assistant, call, result, text, user

HI = user("Hi")
HALF = [text("Half an answ")]


def cut(content: list[dict] | None = None, **declaration: object) -> Story:
    story = Story(**declaration)
    story.turn()
    story.ask([HI], max_tokens=100)
    return story.reply(HALF if content is None else content, "max_tokens")


@pytest.mark.parametrize(
    "story",
    [
        cut().end("truncated", shown=["Half an answ"]),
        cut().end(None, shown=[{"content": "Half an answ", "is_error": True}]),
        cut().returns("Half an answ\n(cut off at the limit)"),
        cut().raises("MaxTokensReached"),
    ],
)
def test_a_mark_of_any_kind_holds(story: Story) -> None:
    assert story.kinds("TRUNC-1") == ["held"]


def test_half_an_answer_presented_as_one_is_found() -> None:
    [finding] = cut().returns("Half an answ").check("TRUNC-1")

    assert finding.kind == "broken"
    assert finding.evidence == "outcome"
    assert cut([]).end("completed", shown=[]).kinds("TRUNC-1") == ["broken"]


def test_a_turn_that_went_on_or_was_cancelled_is_not_cut() -> None:
    story = cut()
    story.ask([HI, assistant(HALF), user("Go on.")], max_tokens=100)
    story.reply([text("er.")])

    assert story.returns("Half an answer.").check("TRUNC-1") == []
    assert cut().cancel().end("cancelled").check("TRUNC-1") == []


def test_stopping_is_always_right() -> None:
    assert cut().end("truncated").kinds("TRUNC-2") == ["held"]
    assert cut(policies={"on_max_tokens": "continue"}).end("truncated").kinds("TRUNC-2") == ["held"]


def went_on(messages: list[dict], policy: str | None, max_tokens: int = 100) -> Story:
    story = cut(**({"policies": {"on_max_tokens": policy}} if policy else {}))
    story.ask(messages, max_tokens=max_tokens)
    return story.reply([text("er.")]).end()


ASKED = [HI, assistant(HALF), user("Go on.")]


def test_going_on_as_declared_holds() -> None:
    assert went_on(ASKED, "continue").kinds("TRUNC-2") == ["held"]
    assert went_on([HI], "continue", max_tokens=200).kinds("TRUNC-2") == ["held"]


def test_going_on_undeclared_should_be_declared() -> None:
    [finding] = went_on(ASKED, None).check("TRUNC-2")

    assert (finding.kind, finding.level) == ("broken", "SHOULD")
    assert "on_max_tokens: continue" in finding.advice


def test_going_on_against_the_declaration_is_found() -> None:
    [finding] = went_on(ASKED, "stop").check("TRUNC-2")

    assert (finding.kind, finding.level) == ("broken", None)


@pytest.mark.parametrize("messages", [[HI], [HI, assistant(HALF)]])
def test_the_same_request_again_and_a_prefill_are_no_documented_ways(messages: list[dict]) -> None:
    for policy in (None, "continue"):
        [finding] = went_on(messages, policy).check("TRUNC-2")
        assert (finding.kind, finding.level) == ("broken", None)


def test_a_cut_reply_is_reported_or_raised() -> None:
    assert cut().report("cut at 100 tokens").end("truncated").kinds("TRUNC-3") == ["held"]
    assert cut().raises("MaxTokensReached").kinds("TRUNC-3") == ["held"]
    assert cut().end("truncated").kinds("TRUNC-3") == ["broken"]


CALL = call("toolu_1", value={"path": "a"})


def test_a_cut_call_that_left_no_trace_holds() -> None:
    story = cut([text("Writing."), CALL]).end("truncated")
    story.turn("More")
    story.ask([HI, assistant([text("Writing.")]), user("More")])

    assert story.reply([text("Yes?")]).end().kinds("TRUNC-4") == ["held"]
    assert cut([CALL]).end("truncated").kinds("TRUNC-4") == ["held"]


def test_a_cut_call_that_ran_is_found() -> None:
    [finding] = cut([CALL]).tool(value={"path": "a"}).end("truncated").check("TRUNC-4")

    assert (finding.kind, finding.evidence) == ("broken", "hook")


def test_a_repaired_cut_call_that_ran_is_found() -> None:
    assert cut([CALL]).tool(value={"path": "a", "content": ""}).end("truncated").kinds("TRUNC-4") == [
        "broken"
    ]


def test_a_cut_call_kept_for_later_is_found() -> None:
    story = cut([CALL]).end("truncated")
    story.turn("More")
    story.ask([HI, assistant([CALL]), user([result("toolu_1", "cut", is_error=True), text("More")])])
    [finding] = story.reply([text("Yes?")]).end().check("TRUNC-4")

    assert (finding.kind, finding.request) == ("broken", 2)


def test_a_whole_call_before_the_cut_may_be_kept() -> None:
    assert cut([CALL, text("And then")]).end("truncated").check("TRUNC-4") == []


def test_a_cut_call_that_is_sent_in_the_same_turn_is_found() -> None:
    story = cut([CALL])
    story.ask([HI, assistant([CALL]), user([result("toolu_1", "cut", is_error=True)])], max_tokens=200)
    [finding] = story.reply([text("Yes?")]).end().check("TRUNC-4")

    assert (finding.kind, finding.request, finding.block) == ("broken", 2, 0)


def test_a_cut_call_that_was_made_again_held() -> None:
    story = cut([CALL])
    story.ask([HI], max_tokens=200)

    [finding] = story.reply([text("Yes?")]).end().check("TRUNC-4")
    assert (finding.kind, finding.evidence) == ("held", "wire")


def test_a_cut_call_says_nothing_where_nobody_sees_the_tools() -> None:
    assert cut([CALL], exposes=()).end("truncated").check("TRUNC-4") == []


def test_a_lower_limit_is_no_higher_one() -> None:
    assert went_on([HI], "continue", max_tokens=100).kinds("TRUNC-2") == ["broken"]
    assert went_on([HI], "continue", max_tokens=99).kinds("TRUNC-2") == ["broken"]
    assert went_on([HI], "continue", max_tokens=101).kinds("TRUNC-2") == ["held"]


def test_a_turn_that_was_stopped_leaves_open_what_it_would_have_done() -> None:
    assert cut().overran().check("TRUNC-2") == []


def test_all_that_was_shown_of_a_cut_reply_is_named() -> None:
    [finding] = cut([text("Half"), text("an answ")]).end(shown=["Half", "an answ"]).check("TRUNC-1")

    assert "showing: Half / an answ" in finding.happened
