"""The model's types, as `msgspec.inspect` tells them, in words and by kind."""

from __future__ import annotations

from functools import cache

from msgspec import inspect


@cache
def struct_type(model: type) -> inspect.StructType:
    """The description of a struct of the model."""
    found = inspect.type_info(model)
    assert isinstance(found, inspect.StructType)  # noqa: S101 - only structs are asked for
    return found


_WORDS: dict[type, str] = {
    inspect.StrType: "a text",
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number of seconds",
    inspect.BoolType: "true or false",
    inspect.ListType: "a list",
    inspect.DictType: "a mapping",
}


def describe(wanted: inspect.Type) -> str:
    """What belongs somewhere, in words for a message."""
    if isinstance(wanted, inspect.Metadata):
        return describe(wanted.type)
    if isinstance(wanted, inspect.LiteralType):
        return " or ".join(f"`{value}`" for value in wanted.values)
    if isinstance(wanted, inspect.StructType):
        return "a mapping with " + ", ".join(field.encode_name for field in wanted.fields)
    return _WORDS.get(type(wanted), "a value")
