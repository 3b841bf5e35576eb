"""What a loop hands over is recorded as what it is, whatever class of its own it has."""

from __future__ import annotations

from harness.plain import plain


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "something else"


class Whole(int):
    pass


class Broken(float):
    pass


def test_texts_and_numbers_of_other_classes_are_what_they_are() -> None:
    assert plain([Text("a"), Whole(3), Broken(2.5), {"k": Text("b")}]) == ["a", 3, 2.5, {"k": "b"}]


def test_what_is_no_json_is_its_repr() -> None:
    assert plain({"k": 1j}) == {"k": {"__repr__": "1j"}}
