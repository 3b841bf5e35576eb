"""The file of a recording as plain values, and where in it each interaction begins.

Two serializers are common, YAML and JSON, and the values are the same. Nothing a file says is executed: a tag
that would make an object of some Python class is read as the values the object would have been made of.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .problems import CassetteError, NotACassetteError, Problem, Spot, missing

LISTS = ("interactions", "http_interactions")
"""Keys under which recorders keep what they recorded: vcrpy and go-vcr, the VCR of Ruby."""
LARGEST = 1 << 30
"""Bytes of text a file may stand for, unpacked and with its aliases written out."""

_START = Spot(1, 1)
_ALIAS = re.compile(r"(?:^|[\s,:\[{-])\*\w", re.MULTILINE)
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True)
class Source:
    """What a file holds."""

    interactions: list[Any]
    spots: list[Spot]
    """Where each of them begins."""
    extra: dict[str, Any]
    """The file's other keys."""


def load(path: Path) -> Source:
    """The interactions in the file at `path`, as they are written. Raises `CassetteError`."""
    text = _text(path)
    kind = _from_json if path.name.removesuffix(".gz").endswith(".json") else _from_yaml
    try:
        return kind(text, str(path))
    except NotACassetteError:
        raise
    except CassetteError as error:
        if any(key in text for key in (*LISTS, "requests")):
            raise
        # Folders hold templates and the like, which need not even be YAML.
        raise NotACassetteError(error.problems) from None


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        data = _unpacked(data) if data[:2] == b"\x1f\x8b" else data
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        spot = Spot(before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1)
        raise _wrong(path, spot, f"byte 0x{data[error.start]:02x} is not UTF-8") from None
    except FileNotFoundError:
        raise CassetteError([missing(path)]) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _wrong(path, _START, f"cannot be read: {reason}") from None


def _unpacked(data: bytes) -> bytes:
    unpacker = zlib.decompressobj(47)
    text = unpacker.decompress(data, LARGEST)
    if not unpacker.eof:
        raise gzip.BadGzipFile("the compressed file is cut short, or unpacks to more than 1 GB")
    return text


def _wrong(path: Path | str, spot: Spot, message: str) -> CassetteError:
    return CassetteError([Problem(str(path), spot, message)])


def _none(path: str, key: str = "") -> CassetteError:
    message = "no recording: neither `interactions` nor a list of requests with responses is in it"
    if key:
        message = f"no recording: its `{key}` is no list of requests with their responses"
    return NotACassetteError([Problem(path, _START, message)])


# YAML


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
_SCALARS: dict[str, Callable[[yaml.ScalarNode], Any]] = {
    f"tag:yaml.org,2002:{name}": read
    for name, read in (
        ("null", lambda _: None),
        ("bool", _CONSTRUCTOR.construct_yaml_bool),
        ("int", _CONSTRUCTOR.construct_yaml_int),
        ("float", _CONSTRUCTOR.construct_yaml_float),
        ("binary", _CONSTRUCTOR.construct_yaml_binary),
    )
}
"""All that is not text in JSON; dates are text there, and whatever has another tag is read as text."""


def _value(node: yaml.Node, known: dict[int, Any]) -> Any:
    """What PyYAML's constructor makes of a node, without objects of Python, in a third of the time."""
    if isinstance(node, yaml.ScalarNode):
        reader = _SCALARS.get(node.tag)
        return reader(node) if reader else node.value
    if id(node) in known:
        return known[id(node)]
    if isinstance(node, yaml.SequenceNode):
        value: Any = [_value(each, known) for each in node.value]
    else:
        assert isinstance(node, yaml.MappingNode)  # noqa: S101 - a node is one of three kinds
        value = _mapping(node, known)
    known[id(node)] = value
    return value


def _mapping(node: yaml.MappingNode, known: dict[int, Any]) -> dict[Any, Any]:
    if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
        _CONSTRUCTOR.flatten_mapping(node)
    return {_value(key, known): _value(value, known) for key, value in node.value}


def _from_yaml(text: str, path: str) -> Source:
    try:
        root = yaml.compose(text, Loader=_LOADER)
        if "&" in text and _ALIAS.search(text):
            _check_aliases(root, path)
        values = _value(root, {}) if root is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        spot = Spot(mark.line + 1, mark.column + 1) if mark else _START
        said = ", ".join(part for part in (error.context, error.problem) if part)
        raise _wrong(path, spot, f"not YAML: {said}") from None
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        spot = Spot(before.count("\n") + 1, len(before) - before.rfind("\n"))
        raise _wrong(path, spot, "a character that YAML does not allow") from None
    except RecursionError:
        raise _wrong(path, _START, "nested too deeply") from None
    except (ValueError, TypeError, OverflowError) as error:
        raise _wrong(path, _START, f"a value that cannot be read: {error}") from None
    return _source(values, path, lambda key: _spots(root, key))


def _spots(root: yaml.Node | None, key: str | None) -> list[Spot]:
    listed: Any = root
    if key is not None:
        # Of a key that is written twice the last counts, as for the values.
        listed = next(value for name, value in reversed(listed.value) if name.value == key)
    return [_at(node) for node in listed.value]


def _check_aliases(root: yaml.Node | None, path: str) -> None:
    """Refuse what only aliases make large, before any of it is written out."""
    sizes: dict[int, int] = {}
    begun: set[int] = set()
    stack = [(root, False)] if root is not None else []
    while stack:
        node, done = stack.pop()
        parts = _parts(node)
        if done:
            begun.discard(id(node))
            sizes[id(node)] = _weight(node) + sum(sizes[id(part)] for part in parts)
            if sizes[id(node)] > LARGEST:
                raise _wrong(path, _at(node), "more than 1 GB, counting what aliases stand for")
        elif id(node) in begun:
            raise _wrong(path, _at(node), "an alias stands inside what it names")
        elif id(node) not in sizes:
            begun.add(id(node))
            stack.append((node, True))
            stack += [(part, False) for part in parts]


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _weight(node: yaml.Node) -> int:
    return 8 + len(node.value) if isinstance(node, yaml.ScalarNode) else 8


def _at(node: yaml.Node) -> Spot:
    return Spot(node.start_mark.line + 1, node.start_mark.column + 1)


# JSON


def _from_json(text: str, path: str) -> Source:
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise _wrong(path, Spot(error.lineno, error.colno), f"not JSON: {error.msg}") from None
    except (RecursionError, ValueError) as error:
        message = "nested too deeply" if isinstance(error, RecursionError) else f"not JSON: {error}"
        raise _wrong(path, _START, message) from None
    return _source(values, path, lambda key: list(_json_spots(text, key)))


def _json_spots(text: str, key: str | None) -> Iterator[Spot]:
    """Where the items of the list begin; `text` is known to be JSON that has it."""
    line, begins, seen = 1, 0, 0
    for start in _item_starts(text, key):
        # Only what is new is looked at: a file of one line would be searched from its start each time.
        if more := text.count("\n", seen, start):
            line, begins = line + more, text.rfind("\n", seen, start) + 1
        seen = start
        yield Spot(line, start - begins + 1)


def _item_starts(text: str, key: str | None) -> Iterator[int]:
    decode = json.JSONDecoder().raw_decode
    place = _after_space(text, 0) + 1
    if key is not None:
        while True:
            name, place = decode(text, _after_space(text, place))
            place = _after_space(text, _after_space(text, place) + 1)
            if name == key:
                break
            place = _after_space(text, decode(text, place)[1]) + 1
        place += 1
    place = _after_space(text, place)
    while text[place] != "]":
        yield place
        place = _after_space(text, decode(text, place)[1])
        place = _after_space(text, place + 1) if text[place] == "," else place


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


# Both


def _source(values: Any, path: str, spots: Any) -> Source:
    if isinstance(values, list) and all(isinstance(one, dict) and "request" in one for one in values):
        return Source(values, spots(None), {})
    if not isinstance(values, dict):
        raise _none(path)
    for key in LISTS:
        if isinstance(values.get(key), list):
            rest = {name: value for name, value in values.items() if name != key}
            return Source(values[key], spots(key), rest)
    asked, answered = values.get("requests"), values.get("responses")
    if isinstance(asked, list) and isinstance(answered, list):
        pairs = [{"request": a, "response": b} for a, b in zip(asked, answered, strict=False)]
        return Source(pairs, spots("requests")[: len(pairs)], {})
    if "interactions" in values and values["interactions"] is None:
        return Source([], [], {})
    raise _none(path, next((key for key in LISTS if key in values), ""))
