"""A session that is known by a word in its prompts."""

from __future__ import annotations

from harness.provider.session import Session
from harness.provider.tokens import Tokens, token_of
from tests.provider.serve import scenario


def session(conversation: str) -> Session:
    made = Session(key=conversation, scenario=scenario([]), record=lambda _: None)
    made.token = token_of(conversation)
    return made


def test_a_session_is_found_by_the_last_token_that_is_open() -> None:
    tokens, one, two = Tokens(), session("one"), session("two")
    tokens.add(one)
    tokens.add(two)

    body = f'{{"messages": ["{one.token} said", "and {two.token}"]}}'.encode()
    assert tokens.session(tokens.last_in(body)) is two
    tokens.retire(two)
    assert tokens.session(tokens.last_in(body)) is one


def test_what_comes_too_late_belongs_to_nobody_else() -> None:
    tokens, one = Tokens(), session("one")
    tokens.add(one)
    tokens.retire(one)

    late = tokens.last_in(one.token.encode())
    assert late == one.token
    assert tokens.session(late) is None


def test_a_word_that_looks_like_a_token_is_none() -> None:
    tokens = Tokens()
    tokens.add(session("one"))

    assert tokens.last_in(token_of("another").encode()) == ""
