"""The JSON Schema of the lines of the protocol, made from their types.

Made anew by `python -m harness.loops.protocol_schema`.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from ..scenario.documented import field_docs, summary
from ..turn import Limits
from .protocol import (
    ByeLine,
    DeclarationBody,
    HelloBody,
    HelloLine,
    OutcomeBody,
    OutcomeLine,
    RaisedBody,
    RunLine,
    ToolLine,
    TurnLine,
)

LINES: tuple[type[msgspec.Struct], ...] = (TurnLine, OutcomeLine, HelloLine, RunLine, ByeLine)
"""Each is one line of JSON. The first is what a process reads, the second what it writes."""
PARTS: tuple[type[msgspec.Struct], ...] = (
    ToolLine, Limits, OutcomeBody, RaisedBody, HelloBody, DeclarationBody,
)  # fmt: skip


def protocol_schema() -> dict[str, Any]:
    """The schema: a definition for each kind of line, of which a line is one."""
    _, components = msgspec.json.schema_components(LINES, ref_template="#/$defs/{name}")
    definitions: dict[str, dict[str, Any]] = dict(components)
    for model in (*LINES, *PARTS):
        definition = definitions[model.__name__]
        definition["description"] = summary(model)
        docs = field_docs(model)
        for name, schema in definition["properties"].items():
            if name in docs:
                schema["description"] = docs[name]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "loop-harness protocol 1",
        "oneOf": [{"$ref": f"#/$defs/{line.__name__}"} for line in LINES],
        "$defs": dict(sorted(definitions.items())),
    }


def schema_text() -> str:
    """The schema as the text of a file."""
    return json.dumps(protocol_schema(), indent=2, ensure_ascii=False) + "\n"


def _main() -> None:
    from pathlib import Path

    Path(__file__).parents[1].joinpath("protocol.schema.json").write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    _main()
