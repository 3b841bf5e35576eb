"""Words for words: of the same length and shape, always the same, and never one for two."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scenario.filler import Disguise, personal

TEXTS = [
    "What changed in the latest release of Acme Corp?",
    "Mail jane.doe@example.com or call +49 170 1234567.",
    "Grüße an Jürgen Müller, 你好世界, Привет",
    '{"location": "San Francisco, CA", "temperature": 1725}',
    "Line one.\n\n  - *item* `code_words` → 100 %\n",
    "AKIAIOSFODNN7EXAMPLE and B7X9K2 at 10.0.0.1",
]


def shape(text: str) -> str:
    """What a text looks like: words, numbers and all that stands between them."""
    text = re.sub(r"[^\W\d_]", lambda each: "A" if each[0].isupper() else "a", text)
    return re.sub(r"\d", "0", text)


@pytest.mark.parametrize("text", TEXTS)
def test_the_shape_stays(text: str) -> None:
    found = Disguise(1).text(text)

    assert shape(found) == shape(text)
    assert found != text


@pytest.mark.parametrize("text", TEXTS)
def test_no_longer_word_stays(text: str) -> None:
    found = Disguise(1).text(text)

    longer = set(re.findall(r"[^\W\d_]{4,}|\d{3,}", text)) - {"com"}
    assert not [word for word in longer if word in found]


def test_the_same_is_the_same_everywhere_and_with_every_seed_another() -> None:
    one = Disguise(1)

    assert one.text("Acme buys acme") == one.text("Acme buys acme")
    assert Disguise(1).text("Acme buys") == one.text("Acme buys")
    assert Disguise(2).text("Acme buys") != one.text("Acme buys")


@given(st.sets(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=12), max_size=30))
def test_what_differs_goes_on_to_differ(words: set[str]) -> None:
    disguise = Disguise(1)

    assert len({disguise.text(word) for word in words}) == len(words)


@given(st.text())
def test_any_text_keeps_its_length(text: str) -> None:
    assert len(Disguise(1).text(text)) == len(text)


def test_all_short_words_can_be_replaced() -> None:
    words = [a + b + c for a in "abcdefghij" for b in "aeiou" for c in "klmnopqrst"]
    disguise = Disguise(1)
    found = [disguise.text(word) for word in words]

    assert len(set(found)) == len(words)


def test_values_keep_their_keys_and_kinds() -> None:
    given_ = {"name": "Jane Miller", "ids": [12345, 1.2345, True, None], "at": {"city": "Lisbon"}}
    found = Disguise(1).value(given_)

    assert found.keys() == given_.keys()
    assert [type(each) for each in found["ids"]] == [int, float, bool, type(None)]
    assert "Jane" not in str(found)
    assert "Lisbon" not in str(found)
    assert found["ids"][0] != 12345
    assert Disguise(1).value({"n": 1e-9}) == {"n": 1e-9}


def test_only_what_is_looked_for_is_replaced_where_that_is_asked() -> None:
    disguise = Disguise(1, personal, re.compile("password"))
    text = "Mail jane.doe@example.com or call +49 170 1234567 about order 66."
    found = disguise.text(text)

    assert found.startswith("Mail ")
    assert found.endswith(" about order 66.")
    assert shape(found) == shape(text)
    assert "jane" not in found
    assert "170" not in found
    assert disguise.value({"password": "hunter2", "user": "jo"})["user"] == "jo"
    assert disguise.value({"password": "hunter2"})["password"] != "hunter2"


def test_spans_may_overlap() -> None:
    found = Disguise(1, lambda _: [(4, 10), (0, 6), (5, 8)]).text("abcdefghijklm")

    assert found.endswith("klm")
    assert len(found) == 13
    assert "cdef" not in found


def test_what_nobody_reads_is_short_and_base64() -> None:
    found = Disguise(1).opaque("x" * 1000)

    assert re.fullmatch(r"[A-Za-z0-9]{40}", found)
    assert Disguise(1).opaque("y" * 1000) != found
