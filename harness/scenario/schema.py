"""The JSON Schema of a scenario file, so that editors complete keys and mark mistakes.

It says what JSON Schema can say. The loader says more: names that do not exist, texts that cannot be told
apart, steps that are never reached.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from .blocks import FORMS, Form
from .documented import MODELS, field_docs, summary
from .file import OF_ONE_TURN, ScenarioFile

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def scenario_schema() -> dict[str, Any]:
    """The schema, ready to be written out."""
    _, components = msgspec.json.schema_components([ScenarioFile], ref_template="#/$defs/{name}")
    definitions: dict[str, dict[str, Any]] = dict(components)
    for model in MODELS:
        _describe(definitions[model.__name__], model)
    definitions["Reply"]["properties"]["content"]["items"] = {"$ref": "#/$defs/Block"}
    definitions["Block"] = _block()
    definitions["Step"]["oneOf"] = [{"required": ["reply"]}, {"required": ["fault"]}]
    definitions["Fault"]["oneOf"] = [{"required": ["status"]}, {"required": ["connection"]}]
    root = definitions.pop("ScenarioFile")
    root["oneOf"] = [
        {"required": ["script"], "not": {"required": ["turns"]}},
        {"required": ["turns"], "not": {"anyOf": [{"required": [key]} for key in OF_ONE_TURN]}},
    ]
    return {
        "$schema": _DIALECT,
        **root,
        "title": "loop-harness scenario",
        "$defs": dict(sorted(definitions.items())),
    }


def schema_text() -> str:
    """The schema as the text of a file."""
    return json.dumps(scenario_schema(), indent=2, ensure_ascii=False) + "\n"


def _describe(definition: dict[str, Any], model: type[msgspec.Struct]) -> None:
    definition["description"] = summary(model)
    docs = field_docs(model)
    for name, schema in definition["properties"].items():
        if name in docs:
            schema["description"] = docs[name]


def _block() -> dict[str, Any]:
    wire = {
        "type": "string",
        "description": "The block's type on the wire; the other keys go out as they are.",
    }
    forms = {kind: _form(kind, form) for kind, form in FORMS.items()}
    return {
        "title": "Block",
        "description": "A content block: a short form (`text: Hello`), or as on the wire (`type: text`).",
        "type": "object",
        "properties": {"type": wire, **forms},
        "anyOf": [{"required": [name]} for name in ("type", *forms)],
    }


def _form(kind: str, form: Form) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in form.required if name != "content"},
        "required": [name for name in form.required if name != form.main],
    }
    if "input" in form.defaults:
        fields["properties"]["input"] = {"type": "object"}
    described = {"description": f"`{kind}`: {form.takes}."}
    if form.main is None:
        return {**fields, **described}
    texts, lists = {"type": "string"}, {"type": "array"}
    plain = {"text": [texts], "a list or a mapping": [lists]}.get(form.takes, [texts, lists])
    return {"anyOf": [*plain, fields], **described}
