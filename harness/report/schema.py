"""The JSON Schema of the JSON report, made from its model.

`python -m harness.report.schema > harness/report.schema.json` writes it anew.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import msgspec

from ..history import AnyEvent
from ..judge import CheckResult
from ..runner import CaseResult
from ..scenario.documented import field_docs, summary
from .coverage import Coverage
from .model import SCHEMA, LoopReport, Report

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DESCRIBED: tuple[type[msgspec.Struct], ...] = (
    Report,
    LoopReport,
    CaseResult,
    CheckResult,
    Coverage,
    *AnyEvent.__args__,
)


def report_schema() -> dict[str, Any]:
    """The schema, ready to be written out."""
    _, components = msgspec.json.schema_components([Report], ref_template="#/$defs/{name}")
    definitions: dict[str, dict[str, Any]] = dict(components)
    for model in _DESCRIBED:
        definition = definitions[model.__name__]
        definition["description"] = summary(model)
        for base in reversed(model.__mro__):
            if issubclass(base, msgspec.Struct) and base is not msgspec.Struct:
                for name, doc in field_docs(base).items():
                    definition["properties"][name]["description"] = doc
    root = definitions.pop("Report")
    root["properties"]["schema"] = {**root["properties"]["schema"], "const": SCHEMA}
    root["required"] = ["schema", "version", "loops"]
    return {
        "$schema": _DIALECT,
        **root,
        "title": "loop-harness report",
        "$defs": dict(sorted(definitions.items())),
    }


def schema_text() -> str:
    """The schema as the text of a file."""
    return json.dumps(report_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
