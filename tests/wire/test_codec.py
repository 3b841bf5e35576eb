from __future__ import annotations

import pytest

from harness.wire.codec import NotJsonError, canonical, dumps, loads


def test_json_is_compact_and_non_ascii_is_raw() -> None:
    assert dumps({"a": [1, "é😀"]}) == '{"a":[1,"é😀"]}'.encode()


def test_a_lone_surrogate_is_written_as_an_escape() -> None:
    assert dumps({"a": "\ud800"}) == b'{"a":"\\ud800"}'
    assert canonical({"b": 1, "a": "\ud800"}) == b'{"a":"\\ud800","b":1}'


def test_big_integers_survive() -> None:
    assert loads(dumps({"n": 2**70})) == {"n": 2**70}


def test_equal_json_has_equal_canonical_bytes() -> None:
    assert canonical({"a": 1, "b": {"d": 2, "c": 3}}) == canonical({"b": {"c": 3, "d": 2}, "a": 1})
    assert canonical({"a": []}) != canonical({"a": {}})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a":}', "Expecting value: line 1 column 6 (char 5)"),
        (b'{"a":"\\ud83d"}', "no low surrogate in string: line 1 column 7 (char 6)"),
        (b'{"a":\nNaN}', "unexpected character: line 2 column 1 (char 6)"),
        (b"\xff", "str is not valid UTF-8: surrogates not allowed: line 1 column 1 (char 0)"),
        (b"[" * 100_000, "maximum recursion depth exceeded"),
    ],
)
def test_what_is_not_json_is_told_with_its_position(data: bytes, message: str) -> None:
    with pytest.raises(NotJsonError) as caught:
        loads(data)
    assert message in str(caught.value)


def test_a_pair_of_surrogate_escapes_is_one_character() -> None:
    assert loads(b'{"a":"\\ud83d\\ude00"}') == {"a": "😀"}
