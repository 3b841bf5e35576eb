"""REFUSE on histories written by hand."""

from __future__ import annotations

import pytest

from tests.checks.histories import Story, assistant, call, text, user

HI = user("Hi")
PARTIAL = [text("To do that you first")]


def refused(content: list[dict] | None = None, **declaration: object) -> Story:
    story = Story(**declaration)
    story.turn()
    story.ask([HI], model="one")
    return story.reply(PARTIAL if content is None else content, "refusal")


def test_a_turn_that_stops_at_a_refusal_holds() -> None:
    assert refused().end("refused").kinds("REFUSE-1") == ["held"]


def asked_again(model: str, **declaration: object) -> Story:
    story = refused(**declaration)
    story.ask([HI], model=model)
    return story.reply([text("Well.")]).end()


def test_the_same_model_asked_again_is_found() -> None:
    [finding] = asked_again("one", policies={"on_refusal": "fallback"}).check("REFUSE-1")

    assert (finding.kind, finding.level, finding.request) == ("broken", None, 2)


def test_another_model_may_be_asked_where_that_is_declared() -> None:
    [undeclared] = asked_again("two").check("REFUSE-1")

    assert asked_again("two", policies={"on_refusal": "fallback"}).kinds("REFUSE-1") == ["held"]
    assert asked_again("two", policies={"on_refusal": "stop"}).kinds("REFUSE-1") == ["broken"]
    assert (undeclared.kind, undeclared.level) == ("broken", "SHOULD")
    assert "on_refusal: fallback" in undeclared.advice


@pytest.mark.parametrize(
    "story",
    [
        refused().end("refused"),
        refused().returns("To do that you first\n\nThe model declined."),
        refused().end(None, shown=[{"content": "Declined.", "is_error": True}]),
        refused().raises("ModelRefusedError"),
        refused(raises={"Stop": "refused"}).raises("Stop"),
    ],
)
def test_a_user_who_is_told_in_any_way_holds(story: Story) -> None:
    assert story.kinds("REFUSE-2") == ["held"]


@pytest.mark.parametrize(
    "story",
    [
        refused().returns("To do that you first"),
        refused([]).end("completed", shown=[]),
        refused([]).returns(""),
        refused([]).end("failed", shown=[]),
        refused([]).raises("IndexError", "list index out of range"),
    ],
)
def test_a_user_who_is_not_told_is_found(story: Story) -> None:
    assert story.kinds("REFUSE-2") == ["broken"]


@pytest.mark.parametrize(
    "story",
    [
        refused().end("refused"),
        refused().report("the model declined").end("refused"),
        refused().report("no", "RefusalError").end("refused"),
        refused().raises("ContentPolicyViolation"),
        refused(raises={"Stop": "refused"}).raises("Stop"),
    ],
)
def test_a_refusal_with_a_name_of_its_own_is_no_fault(story: Story) -> None:
    assert story.kinds("REFUSE-3") == ["held"]


def test_a_loop_that_stumbles_over_a_refusal_and_shows_that_has_not_told_of_it() -> None:
    def stumbled(words: str) -> Story:
        story = refused([]).report("'NoneType' object has no attribute 'category'", "AttributeError")
        return story.end("failed", shown=[{"content": words, "is_error": True}])

    [finding] = stumbled("Something went wrong.").check("REFUSE-2")

    assert finding.kind == "broken"
    assert "ended as failed for AttributeError" in finding.happened
    assert stumbled("The model declined.").kinds("REFUSE-2") == ["held"]


@pytest.mark.parametrize(
    "story",
    [
        refused().end("failed"),
        refused().report("unknown error").end("refused"),
        refused().report("the model refused", "RuntimeError").end("refused"),
        refused().raises("RuntimeError", "the model refused"),
    ],
)
def test_a_refusal_reported_as_a_fault_is_found(story: Story) -> None:
    assert story.kinds("REFUSE-3") == ["broken"]


def followed_by(*kept: dict) -> Story:
    story = refused().end("refused")
    story.turn("More")
    story.ask([*kept, user("More")], model="one")
    return story.reply([text("Yes?")]).end()


@pytest.mark.parametrize("kept", [[], [user("Hello")], [user("(Declined.)"), assistant("(Declined.)")]])
def test_a_next_turn_without_the_refused_turn_holds(kept: list[dict]) -> None:
    assert followed_by(*kept).kinds("REFUSE-4") == ["held"]


@pytest.mark.parametrize(
    "kept",
    [
        assistant(PARTIAL),
        assistant([]),
        assistant(""),
        assistant("To do that you first (declined)"),
    ],
)
def test_a_next_turn_with_what_was_refused_is_found(kept: dict) -> None:
    [finding] = followed_by(HI, kept).check("REFUSE-4")

    assert (finding.kind, finding.request) == ("broken", 2)


@pytest.mark.parametrize("kept", [[HI], [HI, assistant("(The model declined.)")]])
def test_what_was_refused_should_not_be_sent_again(kept: list[dict]) -> None:
    [finding] = followed_by(*kept).check("REFUSE-4")

    assert (finding.kind, finding.level, finding.request) == ("broken", "SHOULD", 2)
    assert "messages[0].content[0]" in finding.happened


def test_a_user_may_ask_again_what_was_refused_and_another_model_may_be_asked() -> None:
    again = refused().end("refused")
    again.turn("Hi")
    again.ask([HI], model="one")
    other = refused().end("refused")
    other.turn("More")
    other.ask([HI, user("More")], model="two")

    assert again.reply([text("Yes?")]).end().kinds("REFUSE-4") == ["held"]
    assert other.reply([text("Yes?")]).end().kinds("REFUSE-4") == ["held"]


def test_a_refusal_nothing_follows_is_not_judged_for_what_it_leaves() -> None:
    assert refused().end("refused").check("REFUSE-4") == []


def test_a_call_in_refused_output_does_not_run() -> None:
    left = refused([*PARTIAL, call("toolu_1", value={"n": 1})])
    ran = refused([*PARTIAL, call("toolu_1", value={"n": 1})]).tool(value={"n": 1})

    assert left.end("refused").kinds("REFUSE-5") == ["held"]
    assert ran.end("refused").kinds("REFUSE-5") == ["broken"]


def test_a_loop_that_tells_nothing_leaves_it_open() -> None:
    def silent() -> Story:
        return refused(exposes=()).end(None)

    assert silent().kinds("REFUSE-2") == ["unclear"]
    assert silent().kinds("REFUSE-3") == ["unclear"]


def test_a_status_is_enough_where_nothing_is_reported() -> None:
    [finding] = refused(exposes=("status",)).end("refused").check("REFUSE-3")

    assert (finding.kind, finding.evidence) == ("held", "outcome")


def test_a_refusal_without_a_call_has_none_to_run() -> None:
    assert refused().end("refused").check("REFUSE-5") == []


def test_a_turn_that_has_no_outcome_leaves_open_whether_the_refusal_stopped_it() -> None:
    assert refused().check("REFUSE-1") == []


@pytest.mark.parametrize(
    ("kept", "kind"), [("To do that you", "held"), ("x To do that you first y", "broken")]
)
def test_a_partial_output_is_known_where_it_stands_in_another_text(kept: str, kind: str) -> None:
    assert followed_by(user("Hello"), assistant(kept)).kinds("REFUSE-4") == [kind]


def test_a_short_partial_output_may_be_there_by_chance() -> None:
    def kinds(partial: str) -> list[str]:
        story = refused([text(partial)]).end("refused")
        story.turn("More")
        story.ask([user("Hello"), assistant(f"{partial} is said often."), user("More")])
        return story.reply([text("Yes?")]).end().kinds("REFUSE-4")

    assert kinds("To do that,") == ["held"]
    assert kinds("To do that, ") == ["broken"]


def test_what_the_user_says_is_no_refused_output() -> None:
    assert followed_by(user(PARTIAL)).kinds("REFUSE-4") == ["held"]


def test_all_that_was_shown_of_a_refusal_is_named() -> None:
    story = refused([text("To do that"), text("you first")])
    [finding] = story.end("completed", shown=["To do that", "you first"]).check("REFUSE-2")

    assert "showing: To do that / you first" in finding.happened
