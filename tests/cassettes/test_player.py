"""Which interaction answers a request, and what is said where none does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.cassettes.matching import Path as Fields
from harness.cassettes.matching import without
from harness.cassettes.model import Cassette, Interaction, Piece, Request, Response
from harness.cassettes.player import MOST_FINDINGS, Player
from harness.cassettes.redact import Redactor

URI = "https://api.anthropic.com/v1/messages"
JSON = [("content-type", "application/json")]


def said(*texts: str, **fields: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    return {"model": "m", "max_tokens": 5, "messages": messages} | fields


def recorded(body: Any, answer: str = "", uri: str = URI, **fields: Any) -> Interaction:
    return Interaction(
        request=Request(method="POST", uri=uri, headers=JSON, body=json.dumps(body).encode()),
        response=Response(status=200, headers=JSON, body=answer.encode(), **fields.pop("response", {})),
        **fields,
    )


def player(*interactions: Interaction, **options: Any) -> Player:
    return Player(Cassette(path=Path("x.yaml"), interactions=list(interactions)), **options)


def ask(played: Player, body: Any, uri: str = "/v1/messages", method: str = "POST") -> str:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    response = played.ask(method, uri, JSON, data).response
    return response.body.decode() if response.status == 200 else f"{response.status} {response.body.decode()}"


def kinds(played: Player) -> list[str]:
    return [finding.kind for finding in played.finish()]


def test_requests_are_found_by_what_they_mean() -> None:
    played = player(recorded(said("a", top_p=1.0), "A"), recorded({}, "B", uri=f"{URI}?beta=true&x=1&y=2"))

    spelled = (
        b'{ "top_p": 1, "messages": [{"content": "\\u0061", "role": "user"}], "max_tokens": 5, "model": "m"}'
    )
    assert ask(played, spelled) == "A"
    assert ask(played, {}, "/gateway/v1/messages?y=2&x=1") == "B"
    assert kinds(played) == []


@pytest.mark.parametrize(
    ("uri", "method"), [("/v1/messages?x=1", "POST"), ("/v1/models", "POST"), ("/v1/messages", "GET")]
)
def test_another_address_is_another_request(uri: str, method: str) -> None:
    played = player(recorded({}, "A"))

    assert ask(played, {}, uri, method).startswith("400 ")
    assert kinds(played) == ["mismatch", "leftover"]


def test_equal_requests_get_their_answers_in_order() -> None:
    played = player(*(recorded(said("a"), answer) for answer in "ABC"))

    assert [ask(played, said("a")) for _ in range(3)] == ["A", "B", "C"]
    assert kinds(played) == []


def test_a_request_that_was_played_already_is_a_finding_of_its_own() -> None:
    played = player(recorded(said("a"), "A", line=3))

    assert ask(played, said("a")) == "A"
    assert "was asked once more; x.yaml:3 (interaction 1) was played already" in ask(played, said("a"))
    assert kinds(played) == ["again"]


def test_what_nobody_asked_for_is_left_over() -> None:
    played = player(recorded(said("a"), line=3), recorded(said("b"), line=9))
    ask(played, said("a"))

    assert [finding.message for finding in played.finish()] == [
        f"x.yaml:9 (interaction 2) was never asked for: POST {URI}"
    ]
    assert played.finish() == played.findings


def test_a_request_before_its_time_is_answered_and_a_finding() -> None:
    played = player(recorded(said("a"), "A", line=3), recorded(said("b"), "B", line=9))

    assert [ask(played, said("b")), ask(played, said("a"))] == ["B", "A"]
    assert [finding.message for finding in played.finish()] == [
        "x.yaml:9 (interaction 2) was asked for before x.yaml:3 (interaction 1), which was recorded before it"
    ]


def test_any_order_is_right_where_it_is_allowed() -> None:
    played = player(recorded(said("a"), "A"), recorded(said("b"), "B"), any_order=True)

    assert [ask(played, said("b")), ask(played, said("a"))] == ["B", "A"]
    assert kinds(played) == []


def test_requests_that_were_under_way_together_may_come_in_any_order() -> None:
    def at(text: str, asked: float, took: float) -> Interaction:
        pace = {"head_at": took, "pieces": [Piece(0.0, 0)]}
        return recorded(said(text), text, asked_at=asked, response=pace)

    together = player(at("a", 0.0, 2.0), at("b", 1.0, 0.5))
    assert [ask(together, said("b")), ask(together, said("a"))] == ["b", "a"]
    assert kinds(together) == []

    apart = player(at("a", 0.0, 0.9), at("b", 1.0, 0.5))
    assert [ask(apart, said("b")), ask(apart, said("a"))] == ["b", "a"]
    assert kinds(apart) == ["order"]


def test_fields_that_are_ignored_may_differ() -> None:
    one = said("a", metadata={"user_id": "1", "run": "7"}, tools=[{"name": "t", "description": "x"}])
    other = said("a", metadata={"user_id": "2", "run": "8"}, tools=[{"name": "t", "description": "y"}])

    assert kinds(player_asked(one, other, ignore=["metadata.run", "tools.*.description"])) == []
    assert kinds(player_asked(one, other, ignore=["metadata.run"])) == ["mismatch", "leftover"]


def player_asked(one: Any, other: Any, **options: Any) -> Player:
    played = player(recorded(one), **options)
    ask(played, other)
    return played


@pytest.mark.parametrize("path", ["", ".", "a..b"])
def test_a_path_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="is no path of fields"):
        player(ignore=[path])


def test_paths_reach_into_lists_and_leave_the_rest() -> None:
    value = {"a": [{"b": 1, "c": 2}, 3], "*": 4, "d": {"e": 5}}

    assert without(value, [Fields.of("a.*.b"), Fields.of("d.x"), Fields.of("d.e.f")]) == {
        "a": [{"c": 2}, 3], "*": 4, "d": {"e": 5},
    }  # fmt: skip
    assert without(value, [Fields.of("d.*"), Fields.of("a")]) == {"*": 4, "d": {}}


def test_secrets_are_the_same_on_both_sides() -> None:
    mine = said("see sk-ant-REDACTED", system="REDACTED", mcp_servers=[{"authorization_token": "REDACTED"}])
    theirs = said(
        "see sk-ant-REDACTED", system="sk-ant-api03-abcdefgh", mcp_servers=[{"authorization_token": "x"}]
    )

    assert kinds(player_asked(mine, theirs)) == []
    assert kinds(player_asked(said("order 17"), said("order 18"), redactor=Redactor([r"order (\d+)"]))) == []


def test_a_mismatch_shows_the_first_block_that_differs_from_the_nearest() -> None:
    played = player(
        recorded(said("hello"), line=3),
        recorded(said("a", "b", "see one thing"), line=20),
        recorded({}, line=30),
    )
    told = ask(played, said("a", "b", "see another thing", max_tokens=6))

    message = played.findings[0].message
    assert "The nearest is x.yaml:20 (interaction 2).\nmax_tokens: recorded 5, asked 6\n" in message
    assert '-   "text": "see one thing"' in message
    assert '+   "text": "see another thing"' in message
    error = json.loads(told.removeprefix("400 "))["error"]
    assert (error["type"], error["message"]) == ("invalid_request_error", f"loop-harness: {message}")


BLOCK = said("a") | {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}]}
ADAPTIVE = {"type": "adaptive"}


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        (said("a"), said("a", "b"), "first at messages[1].content[0]:"),
        (said("a"), BLOCK, '- {"content":"a","role":"user"}'),
        (said("a", thinking=ADAPTIVE), said("a"), 'thinking: recorded {"type":"adaptive"}, asked nothing'),
        (said("a"), said("a", **{f"x{n}": n for n in range(7)}), "and 2 more fields"),
        ([1], {"a": 1}, 'recorded: [1]\nasked:    {"a":1}'),
    ],
)
def test_whatever_differs_is_told(one: Any, other: Any, shown: str) -> None:
    assert shown in player_asked(one, other).findings[0].message


def test_secrets_are_not_in_what_is_told() -> None:
    played = player(recorded(said("a")))
    ask(played, said("sk-ant-api03-abcdefgh"), "/v1/messages?key=abc")
    ask(played, said("sk-ant-api03-abcdefgh"))

    told = "".join(finding.message for finding in played.finish())
    assert "sk-ant" not in told
    assert "abc" not in told
    assert "REDACTED" in told


def test_findings_are_bounded() -> None:
    played = player(recorded(said("a")))
    for number in range(MOST_FINDINGS + 7):
        ask(played, said(str(number)))

    assert len(played.findings) == MOST_FINDINGS
    assert played.more == 7


def test_bodies_that_are_no_json_are_compared_as_they_are() -> None:
    played = player(
        Interaction(
            request=Request(method="POST", uri=URI, headers=[], body=b"a=b"),
            response=Response(status=200, headers=[], body=b"A"),
        )
    )

    assert ask(played, b"a=c").startswith("400 ")
    assert ask(played, b"a=b") == "A"
