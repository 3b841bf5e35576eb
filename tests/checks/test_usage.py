"""USAGE on histories written by hand."""

from __future__ import annotations

import pytest

from tests.checks.histories import Story, assistant, call, result, text, user

HI = user("Hi")
FIRST, SECOND = {"input_tokens": 10, "output_tokens": 5}, {"input_tokens": 20, "output_tokens": 7}
RIGHT = {"input_tokens": 30, "output_tokens": 12}


def two_requests(story: Story | None = None) -> Story:
    story = story or Story()
    story.turn()
    story.ask([HI])
    story.reply([call("toolu_1")], "tool_use", usage=FIRST)
    story.ask([HI, assistant([call("toolu_1")]), user([result("toolu_1")])])
    return story.reply([text("Done.")], usage=SECOND)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_run_in_which_nothing_happened_says_nothing(number: int) -> None:
    assert Story().check(f"USAGE-{number}") == []


def test_the_sum_of_the_replies_holds() -> None:
    assert two_requests().usage(2, **RIGHT).end().kinds("USAGE-1") == ["held"]
    assert two_requests().end(usage=RIGHT).kinds("USAGE-1") == ["held"]


@pytest.mark.parametrize(
    "wrong",
    [SECOND, {**RIGHT, "output_tokens": 13}, {"input_tokens": 40, "output_tokens": 12}, {"output_tokens": 0}],
    ids=["last-only", "start-and-delta", "doubled", "none"],
)
def test_any_other_number_breaks_the_clause(wrong: dict[str, int]) -> None:
    [finding] = two_requests().usage(2, **wrong).end().check("USAGE-1")

    assert (finding.kind, finding.evidence) == ("broken", "hook")


def test_what_is_told_with_the_outcome_is_compared_too() -> None:
    [finding] = two_requests().end(usage=SECOND).check("USAGE-1")

    assert (finding.kind, finding.evidence) == ("broken", "outcome")
    assert "30" in finding.expected


def test_cache_counts_are_compared_only_where_they_are_recorded() -> None:
    def story() -> Story:
        told = Story()
        told.turn()
        told.ask([HI])
        return told.reply([text("Done.")], usage={**FIRST, "cache_read_input_tokens": 100})

    assert story().usage(1, **FIRST).end().kinds("USAGE-1") == ["held"]
    assert story().usage(1, **FIRST, cache_read_input_tokens=99).end().kinds("USAGE-1") == ["broken"]


def test_numbers_under_other_names_are_not_judged() -> None:
    assert two_requests().usage(2, prompt_tokens=1).end().check("USAGE-1") == []


def test_an_attempt_that_broke_off_may_be_counted_or_not() -> None:
    def story() -> Story:
        told = Story()
        told.turn()
        told.ask([HI])
        told.reply([text("Hal")], whole=False, usage=FIRST)
        told.ask([HI], retry=1)
        return told.reply([text("Half.")], usage=SECOND)

    assert story().usage(1, **SECOND).end().kinds("USAGE-1") == ["held"]
    assert story().usage(1, **RIGHT).end().kinds("USAGE-1") == ["held"]
    assert story().usage(1, **FIRST).end().kinds("USAGE-1") == ["broken"]


def test_a_side_call_may_be_counted_or_not() -> None:
    story = two_requests()
    story.ask([user("A title, please")], lane="side")
    story.answer("side", 200, body={"usage": {"input_tokens": 1, "output_tokens": 1}})

    assert story.usage(2, input_tokens=31, output_tokens=13).end().kinds("USAGE-1") == ["held"]


def test_a_reply_that_a_cancelled_loop_may_not_have_read_may_be_left_out() -> None:
    def story() -> Story:
        told = Story()
        told.turn()
        told.ask([HI])
        return told.cancel().reply([call("toolu_1")], "tool_use", usage=FIRST)

    for counted in ({"input_tokens": 0, "output_tokens": 0}, FIRST):
        assert story().usage(0, **counted).end("cancelled").kinds("USAGE-1") == ["held"]
        assert story().usage(0, **counted).end("cancelled").kinds("USAGE-3") == ["held"]


def test_a_reply_that_came_when_the_time_was_up_may_be_left_out() -> None:
    def story(clock: float, *exposes: str) -> Story:
        told = Story(exposes=exposes)
        told.turn(wall_clock=clock)
        told.ask([HI])
        told.reply([call("toolu_1")], "tool_use", usage=FIRST)
        return told.usage(0, input_tokens=0, output_tokens=0).end("capped")

    assert story(0.001, "usage", "wall_clock").kinds("USAGE-1") == ["held"]
    assert story(0.001, "usage").kinds("USAGE-1") == ["held"]
    assert story(60, "usage").kinds("USAGE-1") == ["broken"]


def test_each_turn_has_totals_of_its_own() -> None:
    story = two_requests().usage(2, **RIGHT).end()
    story.turn("More")
    story.ask([HI, assistant("Done."), user("More")])
    story.reply([text("Right.")], usage=FIRST)

    assert story.usage(1, **RIGHT).end().kinds("USAGE-1") == ["broken", "held"]


def ended(stop: str) -> Story:
    story = Story()
    story.turn()
    story.ask([HI])
    return story.reply([text("Half")], stop, usage=FIRST)


@pytest.mark.parametrize(
    ("stop", "status"), [("refusal", "refused"), ("max_tokens", "truncated"), ("new", "failed")]
)
def test_usage_has_to_be_recorded_on_every_exit(stop: str, status: str) -> None:
    assert ended(stop).usage(1, **FIRST).end(status).kinds("USAGE-2") == ["held"]
    assert ended(stop).end(status).kinds("USAGE-2") == ["broken"]
    assert ended(stop).raises("ValueError").kinds("USAGE-2") == ["broken"]


def test_a_turn_that_ended_well_is_for_other_clauses() -> None:
    assert ended("end_turn").end().check("USAGE-2") == []


def test_a_declared_exception_cannot_carry_usage() -> None:
    story = Story(raises={"Cut": "truncated"})
    story.turn()
    story.ask([HI])

    assert story.reply([text("Half")], "max_tokens").raises("Cut").check("USAGE-2") == []


@pytest.mark.parametrize(("iterations", "kind"), [(2, "held"), (1, "broken"), (3, "broken")])
def test_iterations_are_the_requests_answered(iterations: int, kind: str) -> None:
    assert two_requests().usage(iterations, **RIGHT).end().kinds("USAGE-3") == [kind]
    assert two_requests().end(usage={**RIGHT, "iterations": iterations}).kinds("USAGE-3") == [kind]


def test_a_request_that_failed_may_be_an_iteration() -> None:
    for iterations in (1, 2):
        story = Story()
        story.turn()
        story.ask([HI])
        story.reply([call("toolu_1")], "tool_use")
        story.ask([HI, assistant([call("toolu_1")]), user([result("toolu_1")])])
        story.answer("fault", 400)

        assert story.usage(iterations).end("failed").kinds("USAGE-3") == ["held"]


def test_a_loop_that_records_no_iterations_is_not_judged() -> None:
    assert two_requests().usage(None, **RIGHT).end().check("USAGE-3") == []


def broke_off(events: int, counted: int, by: str = "provider") -> Story:
    """A stream that breaks off, and one that does not."""
    story = Story()
    story.turn()
    story.ask([user("Hi")])
    story.answered([text("Hel")], usage={"input_tokens": 100, "output_tokens": 9}).breaks(by, events=events)
    story.ask([user("Hi")], retry=1)
    story.reply([text("Hello.")], usage={"input_tokens": 100, "output_tokens": 5})
    return story.usage(1, input_tokens=counted, output_tokens=5).end()


def test_what_a_broken_stream_had_told_should_be_counted() -> None:
    finding = broke_off(3, 100).check("USAGE-1")[-1]

    assert (finding.kind, finding.level) == ("broken", "SHOULD")
    assert "200 input_tokens" in finding.expected


@pytest.mark.parametrize(
    ("events", "counted", "by"), [(3, 200, "provider"), (0, 100, "provider"), (3, 100, "client")]
)
def test_what_a_stream_never_told_or_nobody_heard_need_not(events: int, counted: int, by: str) -> None:
    assert broke_off(events, counted, by).kinds("USAGE-1") == ["held"]


def test_a_reply_within_the_time_of_its_turn_has_arrived_whenever_the_turn_began() -> None:
    story = Story().wait(10.0)
    story.turn(wall_clock=5.0)
    story.ask([user("Hi")])
    story.reply([text("Hello.")], usage={"input_tokens": 10})

    assert story.usage(1, input_tokens=0).end().kinds("USAGE-1") == ["broken"]


def test_of_two_streams_that_broke_off_the_first_is_named() -> None:
    story = Story()
    story.turn()
    for _ in range(2):
        story.ask([user("Hi")])
        story.answered([text("Hel")], usage={"input_tokens": 100}).breaks("provider", events=2)
    story.ask([user("Hi")])
    story.reply([text("Hello.")], usage={"input_tokens": 100})
    [*_, finding] = story.usage(1, input_tokens=100).end().check("USAGE-1")

    assert finding.expected.startswith("300 input_tokens at least: the stream of request 1 had")
