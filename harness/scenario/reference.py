"""The tables of keys in `docs/scenarios.md`, made from the model."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from msgspec import inspect

from .blocks import FORMS
from .documented import MODELS, field_docs, summary
from .file import ScenarioFile
from .kinds import describe, struct_type

BEGIN = "<!-- keys: made from the model by `python -m harness.scenario.reference`; do not edit by hand -->"
END = "<!-- end of keys -->"

_HEADINGS: dict[str, str] = {
    "ScenarioFile": "The file",
    "Task": "`task`",
    "TurnFile": "`turns`: a list of",
    "Limits": "`limits`",
    "Step": "`script`: a list of",
    "Reply": "`reply`",
    "Break": "`breaks` of a reply: a list of",
    "Fault": "`fault`",
    "Expect": "`expect`",
    "Cancel": "`cancel`",
    "Crash": "`crash`",
    "Rival": "`rival`",
    "ToolFile": "`tools`: by name",
    "Behaviour": "`answers` of a tool: a list of",
    "Lane": "`lanes`: a list of",
}


def reference() -> str:
    """The tables, in Markdown."""
    parts = [_table(model) for model in MODELS]
    parts.insert(MODELS.index(_model("Reply")) + 1, _blocks())
    return "\n\n".join(parts)


def renewed(page: str) -> str:
    """The page with its tables made anew. Raises `ValueError` where their place is not marked."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no place for the tables: {BEGIN} … {END}")
    return f"{before}{BEGIN}\n\n{reference()}\n\n{END}{after}"


def _model(name: str) -> type[msgspec.Struct]:
    return next(model for model in MODELS if model.__name__ == name)


def _table(model: type[msgspec.Struct]) -> str:
    docs = field_docs(model)
    rows = [_row(field, _cell(docs.get(field.name, ""))) for field in struct_type(model).fields]
    heading = f"### {_HEADINGS[model.__name__]}\n\n{summary(model)}\n"
    return "\n".join([heading, "| key | holds | by default | |", "|---|---|---|---|", *rows])


def _row(field: inspect.Field, doc: str) -> str:
    return f"| `{field.encode_name}` | {_kind(field.type)} | {_default(field)} | {doc} |"


def _blocks() -> str:
    rows = [
        f"| `{kind}` | {form.takes} | {', '.join(f'`{name}`' for name in form.required) or '-'} |"
        for kind, form in FORMS.items()
    ]
    heading = (
        "### Blocks in short form\n\n"
        "The first key names the block; further keys beside it are fields of the block. "
        "Any other block, and any of these, can be written as on the wire, with `type`.\n"
    )
    return "\n".join([heading, "| key | holds | fields it must have |", "|---|---|---|", *rows])


def _kind(wanted: inspect.Type) -> str:
    if isinstance(wanted, inspect.UnionType):
        options = [each for each in wanted.types if not isinstance(each, inspect.NoneType)]
        return " or ".join(dict.fromkeys(_kind(each) for each in options))
    if isinstance(wanted, inspect.StructType):
        return "a mapping"
    return _cell(describe(wanted))


def _default(field: inspect.Field) -> str:
    if field.required:
        return "must be written"
    default: Any = field.default
    if field.default_factory is not msgspec.NODEFAULT:
        default = field.default_factory()
    if default is None or isinstance(default, msgspec.Struct):
        return "-"
    return f"`{json.dumps(default, ensure_ascii=False)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _main() -> None:
    from pathlib import Path

    from .schema import schema_text

    root = Path(__file__).parents[2]
    page = root / "docs" / "scenarios.md"
    page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
    schema = root / "harness" / f"{ScenarioFile.__name__.removesuffix('File').lower()}.schema.json"
    schema.write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    _main()
