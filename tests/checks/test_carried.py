"""What of a reply may be missing from the next turn."""

from __future__ import annotations

from harness.checks.carried import alike
from tests.checks.histories import Story, assistant, result, server_call, text, user
from tests.checks.histories import call as client_call

HI, MORE = user("Hi"), user("More")
CALL, SAID = server_call("srvtoolu_1"), text("Found it.")
RESULT = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


def next_turn(reply: list[dict], kept: list[dict]) -> list[str]:
    story = Story()
    story.turn("Hi")
    story.ask([HI])
    story.reply(reply).end(shown=["Found it."])
    story.turn("More", handed=[HI, assistant(kept)])
    story.ask([HI, assistant(kept), MORE])
    return story.reply([text("There.")]).end().kinds("HIST-1")


def test_a_server_run_call_with_its_result_is_to_be_kept() -> None:
    assert next_turn([CALL, RESULT, SAID], [CALL, RESULT, SAID]) == ["held"]
    assert next_turn([CALL, RESULT, SAID], [RESULT, SAID]) == ["broken"]


def test_a_server_run_call_that_nobody_answered_may_go() -> None:
    assert next_turn([CALL, SAID], [SAID]) == ["held"]


def changed(sent: list, kept: list) -> list[tuple[str, str | None]]:
    """What is said of a turn whose second request says `kept` where the first one said `sent`."""
    story = Story()
    story.turn()
    story.ask([user(sent)])
    story.reply([SAID, client_call("toolu_1")], "tool_use")
    story.ask([user(kept), assistant([SAID, client_call("toolu_1")]), user([result("toolu_1")])])
    story.reply([text("There.")]).end()
    return [(one.level or "MUST", one.kind) for one in story.check("HIST-2") if one.kind == "broken"]


IMAGE, OTHER = ({"type": "image", "source": {"type": "base64", "data": data}} for data in ("aa", "bb"))


def test_what_was_sent_is_changed_where_something_like_it_stands_in_its_place() -> None:
    assert changed([text("Print the page.")], [text("Print the pages.")]) == [("MUST", "broken")]
    assert changed([IMAGE], [OTHER]) == [("MUST", "broken")]
    assert changed([IMAGE], [text("An image.")]) == [("SHOULD", "broken")]
    assert changed([text("Print the page.")], [text("Weather today?")]) == [("SHOULD", "broken")]
    assert changed([text("Print the page."), text("x")], [text("Print the page."), text(" ")]) == [
        ("SHOULD", "broken")
    ]


def test_half_of_a_text_is_enough_to_know_it_by() -> None:
    assert alike("abcd", "abxy")
    assert not alike("abcd", "axyz")
    assert not alike("", "abcd")
    assert not alike(" ", "")


def test_a_long_conversation_in_which_one_thing_is_said_again_and_again_is_compared_all_the_same() -> None:
    again = [user("Go on.")] * 220
    story = Story()
    story.turn()
    story.ask([user("Begin."), *again])
    story.reply([text("Half")], "max_tokens")
    story.ask(again)
    [finding] = story.reply([SAID]).end().check("HIST-2")

    assert (finding.kind, finding.level) == ("broken", "SHOULD")
    assert "does not have the `text` block of messages[0].content[0]" in finding.happened


def test_what_stands_in_place_of_a_block_is_rather_one_of_its_kind() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([SAID, client_call("toolu_1", value={"a": 1})], "tool_use")
    back = [client_call("toolu_1", value={"a": 2}), text("Found something.")]
    story.ask([HI, assistant(back), user([result("toolu_1")])])
    [finding] = story.reply([text("There.")]).end().check("HIST-1")

    assert (finding.kind, finding.block) == ("broken", 1)
    assert "Found something." in finding.happened


def test_a_cut_reply_may_have_something_else_in_its_place() -> None:
    story = Story()
    story.turn("Hi")
    story.ask([HI])
    story.reply([text("Half")], "max_tokens").end("truncated")
    story.turn("More")
    story.ask([HI, assistant([client_call("toolu_1")]), user([result("toolu_1"), text("More")])])

    assert "broken" not in story.reply([text("There.")]).end().kinds("HIST-1")


def test_of_a_cut_reply_a_part_may_be_left_out() -> None:
    story = Story()
    story.turn("Hi")
    story.ask([HI])
    story.reply([SAID, text("And ha")], "max_tokens").end("truncated")
    story.turn("More")
    story.ask([HI, assistant([SAID]), MORE])

    assert "broken" not in story.reply([text("There.")]).end().kinds("HIST-1")
