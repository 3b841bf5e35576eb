"""A session that is known by a word in its prompts."""

from __future__ import annotations

from harness.provider.session import Session
from harness.provider.tokens import Tokens, token_of
from harness.transcript import conversation_of
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
    assert tokens.find(body) == (True, two)
    tokens.retire(two)
    assert tokens.find(body) == (True, one)


def test_what_comes_too_late_belongs_to_nobody_else() -> None:
    tokens, one = Tokens(), session("one")
    tokens.add(one)
    tokens.retire(one)

    assert tokens.find(one.token.encode()) == (True, None)


def test_a_word_that_looks_like_a_token_is_none() -> None:
    tokens = Tokens()
    tokens.add(session("one"))

    assert tokens.find(token_of("another").encode()) == (False, None)


def test_a_thread_is_known_by_the_reply_it_continues() -> None:
    tokens, one, two = Tokens(), session("one"), session("two")
    tokens.add(one)
    tokens.add(two)
    threaded = {"thread": {"type": "new"}, "messages": [{"role": "user", "content": "Hi"}]}
    two.threads.answered(threaded, conversation_of(threaded), {"id": "msg_2", "content": []})

    body = b'{"thread": {"type": "continue", "previous_message_id": "msg_2"}}'
    assert tokens.find(body) == (True, two)
    assert tokens.find(body.replace(b"msg_2", b"msg_3")) == (False, None)
    assert tokens.find(body[:-1] + f', "x": "{one.token}"}}'.encode()) == (True, one)
