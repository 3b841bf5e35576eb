"""BASE on histories written by hand."""

from __future__ import annotations

from tests.checks.histories import Story, text, user


def asked(*, watched: bool = True) -> Story:
    story = Story(watched=watched).turn()
    story.ask([user("Hi")])
    return story.reply([text("Hello.")])


def test_where_nobody_sees_whom_else_it_asks_nothing_is_said() -> None:
    assert asked(watched=False).end().check("BASE-1") == []
    assert Story(watched=True).turn().end().check("BASE-1") == []


def test_a_turn_that_asks_nobody_else_holds() -> None:
    assert asked().end().kinds("BASE-1") == ["held"]
    assert asked().noted("elsewhere", "redis").end().kinds("BASE-1") == ["held"]


def test_the_apis_own_host_alone_leaves_it_open() -> None:
    assert asked().noted("elsewhere", "api.anthropic.com:443").end().check("BASE-1") == []


def test_a_request_for_the_messages_api_elsewhere_is_broken() -> None:
    story = asked().noted("elsewhere", "gateway:80").noted("api", "POST /v1/messages was asked of gateway:80")
    [finding] = story.end().check("BASE-1")
    assert (finding.kind, finding.request) == ("broken", 1)
    assert finding.happened == "POST /v1/messages was asked of gateway:80."
