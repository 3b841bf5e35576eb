"""PAUSE on histories written by hand."""

from __future__ import annotations

import pytest

from tests.checks.histories import Story, assistant, call, result, server_call, text, user

HI = user("Hi")
LOOKING = [text("Looking."), server_call("srvtoolu_1")]
TOOLS = [{"name": "web_search", "type": "web_search_20250305"}]


def paused(story: Story | None = None, **fields: object) -> Story:
    story = story or Story()
    story.turn()
    story.ask([HI], tools=TOOLS, **fields)
    story.reply(LOOKING, "pause_turn")
    return story


def resumed(*more: dict, **fields: object) -> Story:
    story = paused()
    story.ask([HI, assistant(LOOKING), *more], **{"tools": TOOLS, **fields})
    story.reply([text("Two modules.")])
    return story.end(shown=["Two modules."])


@pytest.mark.parametrize("clause", ["PAUSE-1", "PAUSE-2", "PAUSE-3", "PAUSE-5"])
def test_a_pause_resumed_as_documented_holds(clause: str) -> None:
    assert resumed().kinds(clause) == ["held"]


def test_a_loop_that_ends_on_a_pause_breaks_the_clause() -> None:
    [finding] = paused().end(shown=["Looking."]).check("PAUSE-1")

    assert finding.kind == "broken"
    assert finding.request == 1
    assert "pause_turn" in finding.expected


def test_a_loop_that_raises_on_a_pause_breaks_the_clause() -> None:
    assert paused().raises("ValueError", "pause_turn").kinds("PAUSE-1") == ["broken"]


def test_a_cancelled_pause_needs_no_further_request() -> None:
    assert paused().cancel().end("cancelled").check("PAUSE-1") == []


def test_a_cap_excuses_a_pause_that_is_not_resumed() -> None:
    story = Story()
    story.turn(max_iterations=1)
    story.ask([HI])
    story.reply(LOOKING, "pause_turn")

    assert story.end("capped").check("PAUSE-1") == []


def test_a_declared_cap_excuses_as_well() -> None:
    story = paused(Story(caps={"iterations": 1}))

    assert story.end("capped").check("PAUSE-1") == []


def test_a_cap_that_nobody_knows_of_leaves_it_open() -> None:
    assert paused().end("capped").kinds("PAUSE-1") == ["unclear"]


def test_a_stream_that_broke_is_no_pause() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply(LOOKING, "pause_turn", whole=False)

    assert story.end("failed").check("PAUSE-1") == []


def test_a_retried_resume_is_the_same_request() -> None:
    story = paused()
    story.ask([HI, assistant(LOOKING)], tools=TOOLS)
    story.answer("fault", 529)
    story.ask([HI, assistant(LOOKING)], tools=TOOLS, retry=1)
    story.reply([text("Two modules.")])

    assert story.end(shown=["Two modules."]).kinds("PAUSE-2") == ["held"]


def test_a_continue_message_after_the_pause_is_found() -> None:
    [finding] = resumed(user("continue")).check("PAUSE-2")

    assert finding.kind == "broken"
    assert finding.request == 2
    assert "continue" in finding.happened


def test_a_block_left_out_of_the_paused_content_is_found() -> None:
    story = paused()
    story.ask([HI, assistant(LOOKING[:1])], tools=TOOLS)
    story.reply([text("Two modules.")])
    [finding] = story.end(shown=["Two modules."]).check("PAUSE-2")

    assert finding.kind == "broken"
    assert "srvtoolu_1" in finding.diff


def twice(second_request_ends_with: list[dict], newer: list[dict]) -> Story:
    story = paused()
    story.ask([HI, assistant(LOOKING)], tools=TOOLS)
    story.reply(newer, "pause_turn")
    story.ask([HI, *second_request_ends_with], tools=TOOLS)
    story.reply([text("Done.")])
    return story.end(shown=["Done."])


def test_a_second_pause_may_follow_the_first_or_be_merged_with_it() -> None:
    newer = [text("Still at it.")]

    assert twice([assistant(LOOKING), assistant(newer)], newer).kinds("PAUSE-2") == ["held"]
    assert twice([assistant(LOOKING + newer)], newer).kinds("PAUSE-2") == ["held"]


def test_a_second_pause_replaces_the_first_only_where_it_repeats_it() -> None:
    newer = [text("Still at it.")]

    assert twice([assistant(LOOKING + newer)], LOOKING + newer).kinds("PAUSE-2") == ["held"]
    [_, finding] = twice([assistant(newer)], newer).check("PAUSE-2")

    # A sample in the documentation does just this.
    assert (finding.kind, finding.level) == ("broken", "SHOULD")


def test_a_newest_pause_that_is_not_whole_either_is_found() -> None:
    newer = [text("Still at it."), text("Nearly.")]
    [_, finding] = twice([assistant(newer[:1])], newer).check("PAUSE-2")

    assert (finding.kind, finding.level) == ("broken", None)


def test_tools_dropped_on_resume_are_found() -> None:
    [finding] = resumed(tools=[]).check("PAUSE-3")

    assert finding.kind == "broken"
    assert "web_search" in finding.expected


def test_tools_may_be_marked_for_caching_and_reordered() -> None:
    more = [{"name": "other", "input_schema": {}}, {**TOOLS[0], "cache_control": {"type": "ephemeral"}}]

    assert resumed(tools=more).kinds("PAUSE-3") == ["held"]


def test_a_thread_need_not_repeat_its_tools() -> None:
    story = paused(thread={"type": "create"})
    story.ask([], thread={"type": "continue", "id": "msg_1"}, transcript=[HI, assistant(LOOKING)])
    story.reply([text("Done.")])
    story.end(shown=["Done."])

    assert story.kinds("PAUSE-2") == ["held"]
    assert story.kinds("PAUSE-3") == ["held"]


def test_a_beta_header_left_out_is_found() -> None:
    story = paused(headers={"anthropic-beta": "mcp-client-2025-11-20,message-threads-2026-08-12"})
    story.ask([HI, assistant(LOOKING)], tools=TOOLS)
    [finding] = story.reply([text("Done.")]).end().check("PAUSE-3")

    assert finding.kind == "broken"
    assert "mcp-client-2025-11-20" in finding.expected
    assert "message-threads" not in finding.expected


@pytest.mark.parametrize(
    ("sent", "kind"), [("container_1", "held"), ({"id": "container_1"}, "held"), (None, "broken")]
)
def test_the_container_that_came_back_is_named_again(sent: object, kind: str) -> None:
    story = Story()
    story.turn()
    story.ask([HI], tools=TOOLS)
    story.reply(LOOKING, "pause_turn", container={"id": "container_1", "expires_at": "2026-12-01T00:00:00Z"})
    story.ask([HI, assistant(LOOKING)], tools=TOOLS, **({"container": sent} if sent else {}))
    story.reply([text("Done.")]).end()

    assert story.kinds("PAUSE-3") == [kind]


@pytest.mark.parametrize(
    ("sent", "kind"), [("container_1", "held"), ("container_2", "broken"), (None, "broken")]
)
def test_a_pause_that_names_no_container_keeps_that_of_its_request(sent: str | None, kind: str) -> None:
    story = Story()
    story.turn()
    story.ask([HI], tools=TOOLS, container="container_1")
    story.reply(LOOKING, "pause_turn")
    story.ask([HI, assistant(LOOKING)], tools=TOOLS, **({"container": sent} if sent else {}))
    story.reply([text("Done.")]).end()

    [finding] = story.check("PAUSE-3")
    assert finding.kind == kind
    assert kind == "held" or "request 1 named" in finding.expected


def endless(count: int, **limits: float) -> Story:
    story = Story()
    story.turn(**limits)
    messages = [HI]
    for number in range(count):
        story.ask(messages)
        story.reply([text(f"Part {number}.")], "pause_turn")
        messages = [*messages, assistant([text(f"Part {number}.")])]
    return story


def test_a_bound_that_is_reported_holds() -> None:
    assert endless(4, pauses=3).report("paused too often").end("capped").kinds("PAUSE-4") == ["held"]


def test_a_bound_that_says_nothing_is_found() -> None:
    assert "broken" in endless(4, pauses=3).end("completed", shown=["Part 3."]).kinds("PAUSE-4")


def test_a_turn_that_resumes_no_pause_has_no_bound_to_speak_of() -> None:
    assert endless(1, pauses=3).end("completed", shown=["Part 0."]).check("PAUSE-4") == []


def test_more_pauses_than_allowed_are_found() -> None:
    assert "broken" in endless(6, pauses=3).report("paused too often").end("capped").kinds("PAUSE-4")


def test_a_loop_without_any_bound_is_found() -> None:
    assert "broken" in endless(61).overran().kinds("PAUSE-4")


def test_half_an_answer_returned_as_a_string_is_found() -> None:
    [finding] = paused().returns("Looking.").check("PAUSE-5")

    assert finding.kind == "broken"
    assert "Looking." in finding.happened


def test_half_an_answer_with_a_word_of_the_loops_own_is_marked() -> None:
    assert paused().returns("Looking.\n\n[Stopped: paused too often]").kinds("PAUSE-5") == ["held"]


def test_the_first_half_shown_instead_of_the_answer_is_found() -> None:
    story = paused()
    story.ask([HI, assistant(LOOKING)], tools=TOOLS)
    story.reply([text("Two modules.")])

    assert story.returns("Looking.").kinds("PAUSE-5") == ["broken"]


def test_a_pause_that_ends_in_a_tool_call_is_no_answer_yet() -> None:
    story = paused()
    story.ask([HI, assistant(LOOKING)], tools=TOOLS)
    story.reply([call("toolu_1")], "tool_use")
    story.tool()
    story.ask([HI, assistant([*LOOKING, call("toolu_1")]), user([result("toolu_1")])], tools=TOOLS)
    story.reply([text("Done.")]).end(shown=["Looking.", "Done."])

    assert story.kinds("PAUSE-5") == ["held"]


def test_parameters_that_no_request_resumes_with_are_not_compared() -> None:
    assert paused().end("failed").check("PAUSE-2") == []
    assert paused().end("failed").check("PAUSE-3") == []


def test_a_thread_begun_in_an_earlier_turn_is_known_to_the_server_only() -> None:
    def kinds(**first: object) -> list[str]:
        story = Story()
        story.turn()
        story.ask([HI], **first)
        story.reply(LOOKING, "pause_turn")
        story.ask([HI, assistant(LOOKING)])
        return story.reply([text("Done.")]).end().kinds("PAUSE-3")

    assert kinds(tools=TOOLS) == ["broken"]
    assert kinds(thread={"type": "continue", "id": "msg_1"}) == ["held"]


def test_what_a_thread_offered_at_its_beginning_is_offered_on() -> None:
    story = paused(thread={"type": "create"})
    going_on = {"thread": {"type": "continue", "id": "msg_1"}}
    story.ask([], transcript=[HI, assistant(LOOKING)], **going_on)
    story.reply([text("More."), server_call("srvtoolu_2")], "pause_turn")
    story.ask([HI, assistant([*LOOKING, text("More."), server_call("srvtoolu_2")])])
    findings = story.reply([text("Done.")]).end().check("PAUSE-3")

    assert [(one.kind, one.request) for one in findings] == [("held", 2), ("broken", 3)]


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ([{"name": "other"}], "offers other."),
        ([{**TOOLS[0], "max_uses": 1}], "offers web_search, but not as before."),
        (["bash"], "offers bash."),
    ],
)
def test_other_tools_on_resume_are_named(tools: list, words: str) -> None:
    [finding] = resumed(tools=tools).check("PAUSE-3")

    assert words in finding.happened


def test_servers_of_tools_are_named_again_as_well() -> None:
    story = paused(mcp_servers=[{"type": "url", "name": "docs"}])
    story.ask([HI, assistant(LOOKING)], tools=TOOLS)
    [finding] = story.reply([text("Done.")]).end().check("PAUSE-3")

    assert "`mcp_servers` of request 1 again, docs" in finding.expected


def test_a_thread_keeps_its_container() -> None:
    story = Story()
    story.turn()
    story.ask([HI], thread={"type": "create"})
    story.reply(LOOKING, "pause_turn", container={"id": "container_1"})
    story.ask([], transcript=[HI, assistant(LOOKING)], thread={"type": "continue", "id": "msg_1"})

    assert story.reply([text("Done.")]).end().kinds("PAUSE-3") == ["held"]


def test_pauses_of_a_cancelled_turn_are_not_counted() -> None:
    assert endless(6, pauses=3).cancel().end("cancelled").check("PAUSE-4") == []
    assert paused().cancel().end("cancelled").check("PAUSE-5") == []


def test_as_many_pauses_as_are_allowed_hold() -> None:
    assert endless(4, pauses=3).report("paused too often").end("capped").kinds("PAUSE-4") == ["held"]
    assert endless(59).overran().check("PAUSE-4") == []
    assert endless(60).overran().kinds("PAUSE-4") == ["broken"]


def test_a_loop_that_tells_nothing_leaves_open_whether_it_marked_the_pause() -> None:
    def story() -> Story:
        story = Story(exposes=())
        story.turn()
        story.ask([HI])
        story.reply(LOOKING[:1], "pause_turn")
        story.ask([HI, assistant(LOOKING[:1])])
        return story.reply([text("More.")], "pause_turn")

    assert story().end(None).kinds("PAUSE-4") == ["unclear"]
    assert story().end(None).kinds("PAUSE-5") == ["unclear"]


def test_a_report_marks_a_pause_where_a_limit_ended_the_turn() -> None:
    assert paused(Story(caps={"iterations": 1})).report("stopped").end().kinds("PAUSE-5") == ["held"]
    assert paused().report("stopped").end().kinds("PAUSE-5") == ["broken"]


def test_an_answer_after_a_pause_that_is_not_shown_to_us_is_not_judged() -> None:
    def story(**more: object) -> Story:
        story = paused(Story(**more))
        story.ask([HI, assistant(LOOKING)], tools=TOOLS)
        return story.reply([text("Two modules.")])

    assert story(exposes=("status",)).end().check("PAUSE-5") == []
    assert story().end("failed", shown=["Looking."]).check("PAUSE-5") == []
    assert story().end(shown=["Something else."]).check("PAUSE-5") == []


def test_a_turn_that_may_resume_nothing_and_does_not_pause_holds() -> None:
    story = Story()
    story.turn(pauses=0)
    story.ask([HI])

    assert story.reply([text("Done.")]).end().check("PAUSE-4") == []
    assert "broken" in endless(2, pauses=0).end("capped").kinds("PAUSE-4")


def test_each_pause_that_takes_the_place_of_the_one_before_is_told() -> None:
    story = paused()
    for number in range(3):
        newest = LOOKING if number == 0 else [text(f"Part {number}.")]
        story.ask([HI, assistant(newest)], tools=TOOLS)
        story.reply([text(f"Part {number + 1}.")], "pause_turn" if number < 2 else "end_turn")
    findings = story.end(shown=["Part 3."]).check("PAUSE-2")

    assert [(one.kind, one.request) for one in findings] == [("held", 2), ("broken", 3), ("broken", 4)]
