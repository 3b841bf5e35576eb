"""HIST-10 on histories written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.histories import Story, assistant, call, result, server_call, text, user

HI = user("Hi")
PAIR = [assistant([call("toolu_1")]), user([result("toolu_1")])]


def sent(*messages: Any, replied: list | None = None) -> Story:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply(replied or [call("toolu_1")], "tool_use").tool()
    story.ask(list(messages))
    return story.reply([text("Done.")]).end()


def test_a_run_without_tools_says_nothing() -> None:
    assert Story().check("HIST-10") == []
    assert sent(HI, assistant("Well.")).check("HIST-10") == []


def test_a_call_with_its_result_holds() -> None:
    assert sent(HI, *PAIR).kinds("HIST-10") == ["held"]


def test_results_in_several_messages_hold() -> None:
    calls = assistant([call("toolu_1"), call("toolu_2")])

    assert sent(HI, calls, user([result("toolu_1")]), user([result("toolu_2")])).kinds("HIST-10") == ["held"]


def test_server_run_calls_beside_client_ones_hold() -> None:
    calls = assistant([server_call("srvtoolu_1"), call("toolu_1")])

    assert sent(HI, calls, user([result("toolu_1")])).kinds("HIST-10") == ["held"]


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([user([result("toolu_1")])], "no call in the message before"),
        ([HI, *PAIR, user("And"), *PAIR], "two calls have the id toolu_1"),
        ([HI, PAIR[0], user([result("toolu_1"), result("toolu_1")])], "has two results"),
        ([HI, assistant([server_call("srvtoolu_1"), server_call("srvtoolu_1")]), *PAIR], "srvtoolu_1"),
    ],
)
def test_what_the_api_refuses_is_found_once_a_turn(messages: list, words: str) -> None:
    [finding] = sent(*messages).check("HIST-10")

    assert finding.kind == "broken"
    assert finding.request == 2
    assert words in finding.happened


def test_ids_the_provider_gave_twice_are_not_the_loops() -> None:
    calls = [call("toolu_1"), call("toolu_1")]
    story = sent(HI, assistant(calls), user([result("toolu_1"), result("toolu_1")]), replied=calls)

    assert story.kinds("HIST-10") == ["held"]


def test_the_first_request_that_is_wrong_is_named() -> None:
    wrong = [HI, PAIR[0], user([result("toolu_1"), result("toolu_1")])]
    story = sent(*wrong)
    story.ask([*wrong, assistant("Done."), user("More")])
    [finding] = story.reply([text("Yes?")]).end().check("HIST-10")

    assert (finding.kind, finding.request) == ("broken", 2)


def test_a_request_that_was_wrong_is_found_although_a_later_one_is_right() -> None:
    wrong = [HI, PAIR[0], user([result("toolu_1"), result("toolu_1")])]

    def requests(*later: list) -> list[tuple[str, int | None]]:
        story = Story()
        story.turn()
        for messages in later:
            story.ask(messages)
            story.reply([text("Hm.")])
        return [(one.kind, one.request) for one in story.end().check("HIST-10")]

    assert requests([HI], wrong, [HI, *PAIR]) == [("broken", 2)]
    assert requests(wrong, [HI, PAIR[0]]) == [("broken", 1)]
    assert requests([HI], [HI, *PAIR], [HI, *PAIR, user("More")]) == [("held", 3)]
