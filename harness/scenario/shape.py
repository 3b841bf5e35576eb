"""YAML nodes to plain values along the typed model, noting every problem instead of stopping at the first.

The model's types come from `msgspec.inspect`, so the file, its JSON Schema and its documentation cannot
disagree about what a key is called or holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, cast

import yaml
from msgspec import inspect

from .blocks import expand_block
from .kinds import describe, struct_type
from .nodes import is_blank, is_text, kind_of, quoted, scalar, spot_of
from .notes import Notes, Where
from .problems import Spot, nearest

MAX_NODES: Final = 50_000
"""An alias may stand for much; more than this is a mistake or an attack."""

_BROKEN: Final = object()
_MERGE: Final = "tag:yaml.org,2002:merge"


class Reader(Notes):
    """Reads one file's nodes. Afterwards the notes say where each value stands and what is wrong."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._open: set[int] = set()
        self._seen = 0

    def read(self, node: yaml.Node, model: type) -> dict[str, Any]:
        """The values of `node` as a struct of the model; what is wrong is left out and noted."""
        value = self._struct(node, struct_type(model), ())
        return value if isinstance(value, dict) else {}

    def _wrong(self, node: yaml.Node, where: Where, message: str) -> object:
        self.note_broken(where, spot_of(node), message)
        return _BROKEN

    @contextmanager
    def _entered(self, node: yaml.CollectionNode, where: Where) -> Iterator[bool]:
        """Whether the collection may be read: not inside itself, not without end."""
        before, self._seen = self._seen, self._seen + len(node.value)
        if id(node) in self._open:
            self._wrong(node, where, "an alias stands inside what it names; write the value out")
            yield False
        elif self._seen > MAX_NODES:
            if before <= MAX_NODES:  # said once
                self._wrong(node, where, f"more than {MAX_NODES} values, counting what aliases stand for")
            yield False
        else:
            self._open.add(id(node))
            yield True
            self._open.discard(id(node))

    def _value(self, node: yaml.Node, wanted: inspect.Type, where: Where) -> Any:
        self.spots.setdefault(where, spot_of(node))
        match wanted:
            case inspect.Metadata(extra={"form": "block"}):
                value = self._block(node, where)
            case inspect.Metadata():
                value = self._value(node, wanted.type, where)
            case inspect.UnionType():
                value = self._one_of(node, wanted, where)
            case inspect.StructType():
                value = self._struct(node, wanted, where)
            case inspect.ListType():
                value = self._list(node, wanted.item_type, where)
            case inspect.DictType():
                value = self._mapping(node, wanted.value_type, where)
            case inspect.AnyType():
                value = self._anything(node, where)
            case _:
                value = self._scalar(node, wanted, where)
        return value

    def _one_of(self, node: yaml.Node, wanted: inspect.UnionType, where: Where) -> Any:
        """The alternative whose shape is the node's; YAML tells lists, mappings and scalars apart."""
        shapes: dict[type, tuple[type, ...]] = {
            yaml.MappingNode: (inspect.StructType, inspect.DictType),
            yaml.SequenceNode: (inspect.ListType,),
            yaml.ScalarNode: (inspect.StrType, inspect.IntType, inspect.FloatType, inspect.LiteralType),
        }
        options = [each for each in wanted.types if not isinstance(each, inspect.NoneType)]
        if isinstance(node, yaml.ScalarNode) and len(options) < len(wanted.types):
            value, trap = scalar(node)
            if value is None and trap is None:
                return None
        fitting = [each for each in options if isinstance(each, shapes[type(node)])]
        if not fitting:
            return self._mismatch(node, options, where)
        # A word where a number or a fixed word may stand (`repeat: forever`).
        fixed: list[inspect.Type] = [each for each in fitting if isinstance(each, inspect.LiteralType)]
        if fixed and isinstance(node, yaml.ScalarNode) and is_text(node):
            fitting = fixed
        return self._value(node, fitting[0], where)

    def _mismatch(self, node: yaml.Node, options: list[inspect.Type], where: Where) -> object:
        if is_blank(node):
            return self._wrong(node, where, "nothing is written here; write a value, or leave the key out")
        wanted = " or ".join(dict.fromkeys(describe(each) for each in options))
        return self._wrong(node, where, f"expected {wanted}, found {kind_of(node)}")

    def _struct(self, node: yaml.Node, wanted: inspect.StructType, where: Where) -> Any:
        if not isinstance(node, yaml.MappingNode):
            return self._mismatch(node, [wanted], where)
        self.spots.setdefault(where, spot_of(node))
        fields = {field.encode_name: field for field in wanted.fields}
        values: dict[str, Any] = {}
        written: set[str] = set()
        with self._entered(node, where) as allowed:
            if not allowed:
                return _BROKEN
            for key, spot, child in self._pairs(node, where):
                written.add(key)
                if key not in fields:
                    self.note_broken((*where, key), spot, f"unknown key `{key}`{nearest(key, fields)}")
                    continue
                value = self._value(child, fields[key].type, (*where, key))
                if value is not _BROKEN:
                    values[key] = value
        for name, field in fields.items():
            if field.required and name not in written:
                self.note_broken((*where, name), spot_of(node), f"`{name}` is missing; write `{name}: …`")
        return values

    def _list(self, node: yaml.Node, item: inspect.Type, where: Where) -> Any:
        if not isinstance(node, yaml.SequenceNode):
            return self._mismatch(node, [inspect.ListType(item)], where)
        with self._entered(node, where) as allowed:
            if not allowed:
                return _BROKEN
            values = [self._value(child, item, (*where, index)) for index, child in enumerate(node.value)]
        # Broken items stay as None so that indexes stay true; nobody looks at them once there are problems.
        return [None if value is _BROKEN else value for value in values]

    def _mapping(self, node: yaml.Node, item: inspect.Type, where: Where) -> Any:
        if not isinstance(node, yaml.MappingNode):
            return self._mismatch(node, [inspect.DictType(inspect.StrType(), item)], where)
        with self._entered(node, where) as allowed:
            if not allowed:
                return _BROKEN
            values = {
                key: self._value(child, item, (*where, key)) for key, _, child in self._pairs(node, where)
            }
        return {key: value for key, value in values.items() if value is not _BROKEN}

    def _block(self, node: yaml.Node, where: Where) -> Any:
        if not isinstance(node, yaml.MappingNode):
            hint = f"; write `text: {node.value}`" if isinstance(node, yaml.ScalarNode) and node.value else ""
            return self._wrong(node, where, f"expected a block, found {kind_of(node)}{hint}")
        value = self._mapping(node, inspect.AnyType(), where)
        if value is _BROKEN or not self.is_sound(where):
            return _BROKEN
        block, problems = expand_block(value)
        for problem in problems:
            self._wrong(node, where, problem)
        return _BROKEN if problems else block

    def _anything(self, node: yaml.Node, where: Where) -> Any:
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, inspect.AnyType(), where)
        if isinstance(node, yaml.SequenceNode):
            return self._list(node, inspect.AnyType(), where)
        return self._number(node, where)

    def _scalar(self, node: yaml.Node, wanted: inspect.Type, where: Where) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            return self._mismatch(node, [wanted], where)
        if isinstance(wanted, inspect.StrType | inspect.LiteralType):
            if not is_text(node):
                return self._not_text(node, wanted, where)
            return self._word(node, wanted, where) if isinstance(wanted, inspect.LiteralType) else node.value
        value = self._number(node, where)
        return value if value is _BROKEN else self._quantity(node, value, wanted, where)

    def _quantity(self, node: yaml.ScalarNode, value: Any, wanted: inspect.Type, where: Where) -> Any:
        if isinstance(wanted, inspect.BoolType) and isinstance(value, bool):
            return value
        if isinstance(wanted, inspect.FloatType) and type(value) is int and value.bit_length() < 64:
            value = float(value)
        kind = {inspect.IntType: int, inspect.FloatType: float}.get(type(wanted))
        if not isinstance(wanted, inspect.IntType | inspect.FloatType) or type(value) is not kind:
            return self._mismatch(node, [wanted], where)
        number = cast("int | float", value)
        if wanted.ge is not None and number < wanted.ge:
            return self._wrong(node, where, f"{node.value} is too small; write {wanted.ge:g} or more")
        if wanted.gt is not None and number <= wanted.gt:
            return self._wrong(node, where, f"{node.value} is too small; write more than {wanted.gt:g}")
        return number

    def _number(self, node: yaml.Node, where: Where) -> Any:
        """The value of a scalar as YAML means it."""
        assert isinstance(node, yaml.ScalarNode)  # noqa: S101 - a node is one of three kinds
        value, problem = scalar(node)
        return self._wrong(node, where, problem) if problem else value

    def _not_text(self, node: yaml.ScalarNode, wanted: inspect.Type, where: Where) -> object:
        if is_blank(node):
            return self._mismatch(node, [wanted], where)
        value, problem = scalar(node)
        if node.tag.startswith("!") and problem:
            return self._wrong(node, where, problem)
        odd = "a number" if problem else "nothing"
        read = odd if value is None else str(value).lower()
        how = f"YAML reads `{node.value}` as {read}" if read != node.value else f"`{read}` is no text to YAML"
        return self._wrong(node, where, f"expected {describe(wanted)}: {how}; write {quoted(node.value)}")

    def _word(self, node: yaml.ScalarNode, wanted: inspect.LiteralType, where: Where) -> Any:
        if node.value in wanted.values:
            return node.value
        words = [str(value) for value in wanted.values]
        return self._wrong(
            node, where, f"`{node.value}` is none of the words for this key{nearest(node.value, words)}"
        )

    def _pairs(self, node: yaml.MappingNode, where: Where) -> Iterator[tuple[str, Spot, yaml.Node]]:
        """Keys with their values, merged ones last and only where not written."""
        written: dict[str, Spot] = {}
        merged: list[yaml.Node] = []
        for key_node, child in node.value:
            if key_node.tag == _MERGE:
                merged += child.value if isinstance(child, yaml.SequenceNode) else [child]
                continue
            key = self._key(key_node, where)
            if key is None:
                continue
            spot = spot_of(key_node)
            if key in written:
                message = f"`{key}` is written twice; it stands in line {written[key].line} already"
                self.note_broken((*where, key), spot, message)
                continue
            written[key] = spot
            yield key, spot, child
        for source in merged:
            yield from self._merged(source, written, where)

    def _merged(
        self, source: yaml.Node, written: dict[str, Spot], where: Where
    ) -> Iterator[tuple[str, Spot, yaml.Node]]:
        if not isinstance(source, yaml.MappingNode):
            self._wrong(source, where, f"`<<` merges mappings, not {kind_of(source)}")
            return
        with self._entered(source, where) as allowed:
            if not allowed:
                return
            for key, spot, child in self._pairs(source, where):
                if key not in written:
                    written[key] = spot
                    yield key, spot, child

    def _key(self, node: yaml.Node, where: Where) -> str | None:
        if not isinstance(node, yaml.ScalarNode):
            self._wrong(node, where, f"a key is a text, not {kind_of(node)}")
        elif not is_text(node):
            self._wrong(
                node, where, f"YAML does not read the key `{node.value}` as text; write {quoted(node.value)}"
            )
        else:
            return str(node.value)
        return None
