"""CLEAN on histories written by hand."""

from __future__ import annotations

import pytest

from tests.checks.histories import ALL, Story, assistant, call, text, user

HI = user("Hi")
CHECKPOINT, CANCEL = "chat:checkpoint:", "chat:cancel:"
CLEAN = ["CLEAN-1", "CLEAN-2", "CLEAN-3", "CLEAN-4", "CLEAN-5", "CLEAN-6", "CLEAN-8"]


def begun(story: Story | None = None) -> Story:
    story = story or Story()
    story.turn()
    story.store(CHECKPOINT, {"messages": []})
    story.publish(activity="Thinking")
    story.ask([HI])
    return story.reply([text("Done.")])


@pytest.mark.parametrize("clause", CLEAN)
def test_a_run_in_which_nothing_happened_says_nothing(clause: str) -> None:
    assert Story().check(clause) == []


@pytest.mark.parametrize("clause", CLEAN)
def test_a_turn_that_was_stopped_from_outside_is_not_judged(clause: str) -> None:
    assert begun().overran().check(clause) == []


@pytest.mark.parametrize("clause", ["CLEAN-1", "CLEAN-3", "CLEAN-4", "CLEAN-5", "CLEAN-8"])
def test_a_turn_that_tidies_up_holds(clause: str) -> None:
    story = begun().usage(1, input_tokens=3).forget(CHECKPOINT)
    story.publish("Done.", activity="", done=True)

    assert story.end(shown=["Done."]).kinds(clause) == ["held"]


def test_a_checkpoint_left_behind_is_found() -> None:
    [finding] = begun().raises("ValueError").check("CLEAN-1")

    assert (finding.kind, finding.evidence) == ("broken", "hook")
    assert "the exception ValueError" in finding.happened


def test_a_checkpoint_written_again_after_it_was_deleted_is_found() -> None:
    assert begun().forget(CHECKPOINT).store(CHECKPOINT).end().kinds("CLEAN-1") == ["broken"]


def test_a_turn_without_a_checkpoint_has_none_to_delete() -> None:
    story = Story()
    story.turn()
    story.store("notes", "mine").ask([HI])

    assert story.reply([text("Done.")]).end().check("CLEAN-1") == []


def test_a_declared_key_is_a_checkpoint_too() -> None:
    story = Story(keys={"checkpoint": "myapp:resume:*"})
    story.turn()
    story.store("myapp:resume:17").ask([HI])

    assert story.reply([text("Done.")]).end().kinds("CLEAN-1") == ["broken"]


def cancelled() -> Story:
    story = Story()
    story.turn()
    story.ask([HI])
    return story.cancel().reply([call("toolu_1")], "tool_use")


def test_a_cancel_flag_that_was_deleted_holds() -> None:
    assert cancelled().forget(CANCEL).end("cancelled").kinds("CLEAN-2") == ["held"]


def test_a_cancel_flag_left_behind_is_found() -> None:
    assert cancelled().end("cancelled").kinds("CLEAN-2") == ["broken"]


def test_a_flag_that_was_taken_from_a_loop_that_knows_no_store_is_a_warning() -> None:
    story = cancelled().forget(CANCEL, by="harness").end("cancelled")

    [finding] = story.check("CLEAN-2")
    assert (finding.kind, finding.level) == ("broken", "SHOULD")
    assert "taken away" in finding.happened


def test_a_flag_set_when_the_turn_was_over_is_not_its_own() -> None:
    assert begun().end().cancel().check("CLEAN-2") == []


def test_activity_that_stays_is_found() -> None:
    [finding] = begun().publish("Done.", activity="Thinking").end().check("CLEAN-3")

    assert finding.kind == "broken"
    assert "Thinking" in finding.happened


def test_only_the_last_state_counts() -> None:
    assert begun().publish("Done.", activity=None).end().kinds("CLEAN-3") == ["held"]


def test_done_twice_is_found() -> None:
    story = begun().publish("Done.", done=True).publish("Done.", done=True)

    assert story.end().kinds("CLEAN-4") == ["broken"]


def test_a_publish_after_done_is_found() -> None:
    [finding] = begun().publish("Done.", done=True).publish("Done.").end().check("CLEAN-4")

    assert finding.kind == "broken"
    assert "followed" in finding.happened


def test_a_turn_without_done_is_found_where_another_turn_has_it() -> None:
    story = begun().publish("Done.", done=True).end()
    story.turn("More").publish(activity="Thinking")
    story.ask([HI, assistant("Done."), user("More")])
    story.reply([text("Half")], "max_tokens").end("truncated")

    assert story.kinds("CLEAN-4") == ["broken", "held"]


def test_a_loop_that_is_known_to_use_done_has_to_use_it_here() -> None:
    assert begun(Story(exposes=(*ALL, "done"))).end().kinds("CLEAN-4") == ["broken"]


def test_a_loop_that_never_uses_done_is_not_judged() -> None:
    assert begun().publish("Done.").end().check("CLEAN-4") == []


def test_usage_recorded_twice_or_never_is_found() -> None:
    [finding] = begun().usage(1).usage(1).end().check("CLEAN-5")

    assert (finding.kind, "There were 2" in finding.happened) == ("broken", True)
    assert begun().end().kinds("CLEAN-5") == ["broken"]


def test_usage_told_with_the_outcome_is_recorded_once() -> None:
    [finding] = begun().end(usage={"input_tokens": 3}).check("CLEAN-5")

    assert (finding.kind, finding.evidence) == ("held", "outcome")
    assert begun().usage(1).end(usage={"input_tokens": 3}).kinds("CLEAN-5") == ["held"]


def test_a_turn_without_a_reply_has_no_usage_to_record() -> None:
    story = Story()
    story.turn()

    assert story.cancel("start").end("cancelled").check("CLEAN-5") == []


def test_an_exception_that_stands_for_a_status_cannot_carry_usage() -> None:
    assert begun(Story(raises={"Cut": "truncated"})).raises("Cut").check("CLEAN-5") == []
    assert begun().raises("ValueError").kinds("CLEAN-5") == ["broken"]


def test_a_request_after_the_outcome_is_found() -> None:
    story = begun().end()
    story.ask([HI, assistant("Done.")])
    [finding] = story.answer("over").check("CLEAN-8")

    assert finding.kind == "broken"
    assert finding.request == 2


def test_a_side_call_may_outlive_the_turn() -> None:
    story = begun().end()
    story.ask([user("A title, please")], lane="side")

    assert story.answer("side", 200).kinds("CLEAN-8") == ["held"]


def test_the_next_turns_requests_are_its_own() -> None:
    story = begun().end()
    story.turn("More").ask([HI, assistant("Done."), user("More")])

    assert story.reply([text("Right.")]).end().kinds("CLEAN-8") == ["held"]


def with_a_failing_hook(hook: str) -> Story:
    story = Story()
    story.turn()
    story.ask([user("Hi")])
    story.reply([text("Done.")])
    return story.noted("hook", hook)


def test_an_outcome_that_is_told_although_a_hook_failed_is_not_hidden() -> None:
    assert with_a_failing_hook("publish").end().kinds("CLEAN-6") == ["held"]


def test_the_exception_of_a_hook_hides_the_outcome_where_it_leaves_the_loop() -> None:
    assert with_a_failing_hook("usage").raises("HookError").kinds("CLEAN-6") == ["broken"]


def test_what_follows_from_the_exception_of_a_hook_is_told_once() -> None:
    story = with_a_failing_hook("usage").raises("HookError")

    assert (story.kinds("SHOW-1"), story.kinds("BOUND-1")) == ([], ["held"])
    on_calls = Story()
    on_calls.turn()
    on_calls.ask([user("Hi")])
    on_calls.reply([call("toolu_1")], "tool_use").noted("hook", "publish").raises("HookError")
    assert on_calls.kinds("TOOL-1") == ["unclear"]


def test_a_hook_that_fails_is_no_failure_of_the_turn() -> None:
    assert with_a_failing_hook("publish").end("failed").kinds("CLEAN-6") == ["broken"]


def test_a_turn_whose_hooks_all_work_says_nothing_of_it() -> None:
    story = Story()
    story.turn()
    assert story.end().check("CLEAN-6") == []


def test_a_hook_that_failed_may_be_called_again() -> None:
    story = with_a_failing_hook("publish").publish("Done.", done=True).publish("Done.", done=True)
    assert story.end().check("CLEAN-4") == []
    story = with_a_failing_hook("usage").usage(1, input_tokens=1).usage(1, input_tokens=1)
    assert story.end().check("CLEAN-5") == []


def test_a_state_whose_publishing_failed_is_not_held_against_the_loop() -> None:
    assert with_a_failing_hook("publish").publish(activity="Thinking").end().check("CLEAN-3") == []
    assert with_a_failing_hook("usage").publish(activity="Thinking").end().kinds("CLEAN-3") == ["broken"]


def test_a_hook_beside_a_provider_that_failed_tells_nothing_of_the_hook() -> None:
    story = with_a_failing_hook("publish")
    story.ask([user("Hi")])

    assert story.answer("fault", 529).end("failed").check("CLEAN-6") == []
    assert with_a_failing_hook("publish").overran().check("CLEAN-6") == []


def test_a_turn_that_is_torn_down_has_no_chance_to_tidy_up() -> None:
    def torn(*exposes: str) -> list[str]:
        story = begun(Story(exposes=(*ALL, *exposes))).cancel("request 1", "asyncio")
        return story.raises("CancelledError").kinds("CLEAN-1")

    assert torn() == []
    assert torn("asyncio") == ["broken"]


def test_each_cancel_flag_is_to_go() -> None:
    story = Story(keys={"cancel": "myapp:cancel:*"})
    story.turn()
    story.store("myapp:cancel:1", by="harness").store("myapp:cancel:2", by="harness")
    story.ask([HI])
    story.cancel().reply([text("Done.")]).forget("myapp:cancel:1")

    assert [one.kind for one in story.end("cancelled").check("CLEAN-2")] == ["held", "broken"]
