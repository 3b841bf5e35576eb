"""A scenario as a file that people read, with nothing in it that YAML would read as something else."""

from __future__ import annotations

import re
from typing import Any

import yaml

_WIDTH = 108
_JSON_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+")
_UNFIT = re.compile(
    r"[ \t]\n|[^\S\n]$|[^\n\t\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""What a text cannot have that stands in lines of its own."""
_BREAKS = re.compile("[\x85\u2028\u2029\ufeff]")
_FLAT = 72
"""Characters up to which a mapping or a list without others in it stands in one line."""


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, _data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = None
    if _BREAKS.search(value):
        style = '"'  # PyYAML writes the others as they are, and reads them as blanks
    elif "\n" in value and not _UNFIT.search(value):
        style = "|"
    elif _JSON_NUMBER.fullmatch(value):
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _mapping(dumper: yaml.SafeDumper, value: dict[str, Any]) -> yaml.MappingNode:
    node = dumper.represent_mapping("tag:yaml.org,2002:map", value.items())
    node.flow_style = _is_flat(list(value.values()), value)
    return node


def _list(dumper: yaml.SafeDumper, value: list[Any]) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=_is_flat(value, value))


def _is_flat(parts: list[Any], value: Any) -> bool:
    if any(isinstance(part, (dict, list)) and part for part in parts):
        return False
    text = str(value)
    return len(text) <= _FLAT and "\\n" not in text


_Dumper.add_representer(str, _text)
_Dumper.add_representer(dict, _mapping)
_Dumper.add_representer(list, _list)


def written(values: dict[str, Any], comments: list[str]) -> str:
    """The text of a scenario file with these values, below these comments."""
    text = yaml.dump(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return "".join(f"# {line}\n" for line in comments) + text
