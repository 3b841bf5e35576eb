"""YAML text to nodes that know their place, and scalars without YAML's surprises.

`yaml.compose` is used instead of `yaml.load` because a loaded value no longer knows its line. What YAML 1.1
would silently turn into something else (`no`, `on`, dates, octal and base-60 numbers) is a problem here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import yaml

from .problems import Problem, ScenarioError, Spot, missing

# libyaml's parser is about ten times as fast; the pure one is what some platforms have.
_LOADER: type[yaml.SafeLoader | yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Scalar: TypeAlias = str | int | float | bool | None

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_JSON_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+")

_REWORDED = {
    "mapping values are not allowed": "`: ` is not allowed inside an unquoted text; put the text in quotes",
    "found undefined alias": "the alias has no anchor before it; write `&name` where the value stands first",
    "expected a single document": "a second document begins here; remove the `---` and what follows it",
    "found another document": "a second document begins here; remove the `---` and what follows it",
    "found unexpected end of stream": "a quote is not closed; add the closing quote",
    "exceeded maximum nesting depth": "nested too deeply",
}


def compose(data: bytes, path: str) -> yaml.Node:
    """The root node of a YAML document. Raises `ScenarioError` where it is not one."""
    text = _decode(data, path)
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        raise ScenarioError([_syntax(error, text, path)]) from None
    except yaml.reader.ReaderError as error:
        spot = _spot_at(text, error.position)
        code = error.character if isinstance(error.character, int) else ord(error.character)
        message = f"character U+{code:04X} is not allowed; write it as an escape in quotes"
        raise ScenarioError([Problem(path, spot, message)]) from None
    except RecursionError:
        raise ScenarioError([Problem(path, Spot(1, 1), "nested too deeply")]) from None
    if node is None:
        message = "the file is empty; it needs at least title, clauses, why, and script or turns"
        raise ScenarioError([Problem(path, Spot(1, 1), message)])
    return node


def read_bytes(file: Path) -> bytes:
    """The file's content. Raises `ScenarioError` where it cannot be read."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise ScenarioError([missing(file)]) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ScenarioError([Problem(str(file), Spot(1, 1), f"cannot be read: {reason}")]) from None


def spot_of(node: yaml.Node) -> Spot:
    """Where the node begins."""
    return Spot(node.start_mark.line + 1, node.start_mark.column + 1)


def kind_of(node: yaml.Node) -> str:
    """What the node is, in words for a message."""
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    if is_blank(node):
        return "nothing"
    name = {"str": "the text", "null": "nothing"}.get(_tag(node), "the value")
    return f"{name} `{_short(node.value)}`"


def is_blank(node: yaml.Node) -> bool:
    """Whether nothing is written where a value belongs (`key:` and the end of the line)."""
    return isinstance(node, yaml.ScalarNode) and node.value == "" and _is_plain(node)


def scalar(node: yaml.ScalarNode) -> tuple[Scalar, str | None]:
    """The value of a scalar, and what is wrong with how it is written (None: nothing)."""
    read = _READERS.get(_tag(node))
    if read is None:
        return None, f"the YAML tag `{node.tag}` is not known here; leave it out"
    if read is _text and not _is_plain(node):
        return node.value, None
    return read(node.value)


def is_text(node: yaml.ScalarNode) -> bool:
    """Whether YAML itself takes the scalar for text."""
    return _tag(node) == "str"


def quoted(text: str) -> str:
    """How to write `text` so that it stays text."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _text(text: str) -> tuple[Scalar, str | None]:
    if _JSON_NUMBER.fullmatch(text):
        return text, f"YAML reads `{text}` as text; put it in quotes, or write a number as 1.0e+3"
    return text, None


def _truth(text: str) -> tuple[Scalar, str | None]:
    value = text.lower() in {"yes", "true", "on"}
    if text in {"true", "false"}:
        return value, None
    word = str(value).lower()
    return value, f"YAML reads `{text}` as {word}; write {quoted(text)} or {word}"


def _nothing(text: str) -> tuple[Scalar, str | None]:
    return None, None if text else "nothing is written here; write a value, or leave the key out"


def _date(text: str) -> tuple[Scalar, str | None]:
    return text, f"YAML reads `{text}` as a date; write {quoted(text)}"


def _whole(text: str) -> tuple[Scalar, str | None]:
    if not _WHOLE.fullmatch(text):
        shown = _short(text)
        return (
            None,
            f"YAML reads `{shown}` as a number of another base; write it in decimal, or in quotes",
        )
    try:
        return int(text), None
    except ValueError:  # Python refuses to convert thousands of digits
        return None, "a whole number with too many digits"


def _decimal(text: str) -> tuple[Scalar, str | None]:
    if not _DECIMAL.fullmatch(text):
        return None, f"`{_short(text)}` is not a number of JSON; write it in decimal, or in quotes"
    value = float(text)
    if not math.isfinite(value):
        return None, f"`{_short(text)}` is too large for a number of JSON; put it in quotes"
    return value, None


_READERS: dict[str, Callable[[str], tuple[Scalar, str | None]]] = {
    "str": _text,
    "bool": _truth,
    "null": _nothing,
    "int": _whole,
    "float": _decimal,
    "timestamp": _date,
}


def _decode(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        spot = Spot(before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1)
        message = f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise ScenarioError([Problem(path, spot, message)]) from None


def _syntax(error: yaml.MarkedYAMLError, text: str, path: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    spot = Spot(mark.line + 1, mark.column + 1) if mark else Spot(1, 1)
    said = f"{error.problem or ''} {error.context or ''}"
    if _line(text, spot.line).lstrip(" ").startswith("\t"):
        return Problem(path, spot, "a tab where YAML wants spaces; indent with spaces")
    for known, message in _REWORDED.items():
        if known in said:
            return Problem(path, spot, message)
    detail = ", ".join(part for part in (error.context, error.problem) if part)
    return Problem(path, spot, f"not YAML: {detail}")


def _line(text: str, number: int) -> str:
    lines = text.split("\n")
    return lines[number - 1] if number <= len(lines) else ""


def _spot_at(text: str, position: int) -> Spot:
    before = text[:position]
    return Spot(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)


def _tag(node: yaml.Node) -> str:
    prefix = "tag:yaml.org,2002:"
    return node.tag.removeprefix(prefix)


def _is_plain(node: yaml.ScalarNode) -> bool:
    return node.style in (None, "")


def _short(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
