"""Changes to the text of a baseline file: nothing is written anew that can stay as it is.

The file belongs to people: their comments, their order, their reasons and their way of quoting are kept. So
the text is changed line by line, where the parsed nodes say the lines are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import yaml

from ..scenario.nodes import compose
from ..scenario.problems import Problem, ScenarioError, Spot
from .ledger import Stale
from .model import Entry

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./*-]*(?:[ :][A-Za-z0-9_./-]+)*(?:\[(?:json|sse)\])?")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
HEAD = "# Known results, and why they are known: `loop-harness run --baseline FILE` compares.\n"


def updated(
    text: str,
    path: str,
    *,
    stale: Sequence[Stale] = (),
    add: Sequence[Entry] = (),
    coverage: Mapping[str, int] | None = None,
) -> str:
    """The text without the stale entries, or with what is left of them, and with those in `add` at the end.

    `coverage` is the number of clauses decided, by loop; None leaves it as it is. Raises `ScenarioError`
    where the file's form leaves no place for an addition.
    """
    if not _content(text):
        text = (text or HEAD) + "coverage: {}\nknown: []\n"
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    root = compose("".join(lines).encode(), path)
    assert isinstance(root, yaml.MappingNode)  # noqa: S101 - it was loaded before
    pairs = {key.value: (key, value) for key, value in root.value}
    edits = [
        *_coverage(lines, pairs.get("coverage"), coverage or {}, path),
        *_known(lines, pairs.get("known"), stale, add, path),
    ]
    for first, behind, new in sorted(edits, key=lambda edit: edit[:2], reverse=True):
        lines[first:behind] = new
    return "".join(lines)


def check_form(text: str, path: str) -> None:
    """Raise the `ScenarioError` that an addition would: nobody wants to hear it only after a run."""
    updated(text, path, add=[Entry(scenario="*", grade="fail", reason="-")])


_Edit = tuple[int, int, list[str]]
_Pair = tuple[yaml.Node, yaml.Node]


def _content(text: str) -> bool:
    return any(line.strip() and not line.lstrip().startswith(("#", "---")) for line in text.splitlines())


def _coverage(lines: list[str], pair: _Pair | None, wanted: Mapping[str, int], path: str) -> list[_Edit]:
    if pair is None:
        new = ["coverage:\n", *(f"  {_quoted(loop)}: {count}\n" for loop, count in wanted.items())]
        return [(_first(lines), _first(lines), new)] if wanted else []
    key, node = pair
    if not isinstance(node, yaml.MappingNode):
        return []
    written = {loop.value: value for loop, value in node.value}
    edits: list[_Edit] = []
    new_ones = {loop: count for loop, count in wanted.items() if loop not in written}
    for loop, value in written.items():
        if loop in wanted and str(wanted[loop]) != value.value:
            edits.append(_replaced(lines, value, str(wanted[loop])))
    if not new_ones:
        return edits
    added = [f"  {_quoted(loop)}: {count}\n" for loop, count in new_ones.items()]
    if node.flow_style:
        if node.value:
            raise _no_place(key, path, "coverage")
        return [*edits, (key.start_mark.line, node.end_mark.line + 1, ["coverage:\n", *added])]
    behind = _end(lines, node)
    return [*edits, (behind, behind, added)]


def _replaced(lines: list[str], value: yaml.Node, text: str) -> _Edit:
    line = lines[value.start_mark.line]
    new = line[: value.start_mark.column] + text + line[value.end_mark.column :]
    return value.start_mark.line, value.start_mark.line + 1, [new]


def _known(
    lines: list[str], pair: _Pair | None, stale: Sequence[Stale], add: Sequence[Entry], path: str
) -> list[_Edit]:
    if pair is None or (isinstance(pair[1], yaml.SequenceNode) and not pair[1].value):
        new = [line for entry in add for line in _lines(entry, "  ")]
        if not new:
            return []
        if pair is None:
            return [(len(lines), len(lines), ["known:\n", *new])]
        return [(pair[0].start_mark.line, pair[1].end_mark.line + 1, ["known:\n", *new])]
    key, node = pair
    if not isinstance(node, yaml.SequenceNode) or node.flow_style:
        raise _no_place(key, path, "known")
    items = node.value
    indent = " " * node.start_mark.column
    behind = _end(lines, items[-1])
    edits = [_shorter(lines, items[each.entry], each.still) for each in stale]
    new = [line for entry in add for line in _lines(entry, indent)]
    if not new and len([each for each in stale if each.still is None]) == len(items):
        edits.append((key.start_mark.line, key.start_mark.line + 1, ["known: []\n"]))
    return [*edits, (behind, behind, new)] if new else edits


def _shorter(lines: list[str], item: yaml.Node, still: str | None) -> _Edit:
    """The entry for the one variant in which it still holds; without one, nothing."""
    if still is None:
        return item.start_mark.line, _end(lines, item), []
    name = next(value for key, value in item.value if key.value == "scenario")
    return _replaced(lines, name, _quoted(f"{name.value}[{still}]"))


def _lines(entry: Entry, indent: str) -> list[str]:
    scenario = f"{entry.scenario}[{entry.variant}]" if entry.variant else entry.scenario
    values = {
        "scenario": scenario,
        "clause": entry.clause,
        "loop": entry.loop,
        "grade": entry.grade,
        "reason": entry.reason,
        "issue": entry.issue,
    }
    written = [f"{key}: {_quoted(value)}" for key, value in values.items() if value]
    return [f"{indent}{'- ' if number == 0 else '  '}{line}\n" for number, line in enumerate(written)]


def _quoted(text: str) -> str:
    """The text as YAML, in quotes where it would be something else without them."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return json.dumps(text, ensure_ascii=False)


def _end(lines: list[str], node: yaml.Node) -> int:
    """The line behind the node's content; blank lines behind a folded text are not its."""
    last = _last_line(node)
    while not lines[last].strip():
        last -= 1
    return last + 1


def _last_line(node: yaml.Node) -> int:
    """The line in which the node's content ends, from 0; what stands between it and the next is not its."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _last_line(last[1] if isinstance(last, tuple) else last)
    mark = node.end_mark
    return int(mark.line) if mark.column or mark.line == node.start_mark.line else int(mark.line) - 1


def _first(lines: list[str]) -> int:
    """The first line that is no comment."""
    return next((n for n, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines))


def _no_place(key: yaml.Node, path: str, name: str) -> ScenarioError:
    spot = Spot(key.start_mark.line + 1, key.start_mark.column + 1)
    return ScenarioError([Problem(path, spot, f"`{name}` is written in one line; write a line for each")])
