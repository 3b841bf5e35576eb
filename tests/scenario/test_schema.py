"""The JSON Schema and the docs are made from the model, and are current."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harness.scenario.blocks import FORMS
from harness.scenario.documented import MODELS, field_docs, summary
from harness.scenario.file import ScenarioFile, TurnFile
from harness.scenario.kinds import struct_type
from harness.scenario.load import parse_scenario
from harness.scenario.reference import reference, renewed
from harness.scenario.schema import scenario_schema, schema_text

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_the_committed_schema_is_current() -> None:
    committed = (ROOT / "harness" / "scenario.schema.json").read_text(encoding="utf-8")
    assert committed == schema_text(), "make it anew: python -m harness.scenario.reference"


def test_the_tables_of_the_docs_are_current() -> None:
    assert renewed(PAGE) == PAGE, "make them anew: python -m harness.scenario.reference"
    assert reference() in PAGE


def test_a_page_without_a_place_for_the_tables_is_an_error() -> None:
    with pytest.raises(ValueError, match="no place for the tables"):
        renewed("# Scenarios")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_key_is_explained(model: type) -> None:
    names = {field.name for field in struct_type(model).fields}
    assert field_docs(model).keys() == names
    assert summary(model)


def test_the_schema_knows_every_key_and_refuses_others() -> None:
    schema = scenario_schema()
    for model in MODELS:
        part = schema if model.__name__ == "ScenarioFile" else schema["$defs"][model.__name__]
        assert part["properties"].keys() == {field.encode_name for field in struct_type(model).fields}
        assert part["additionalProperties"] is False


def test_every_mapping_of_a_file_is_explained() -> None:
    assert scenario_schema()["$defs"].keys() | {"ScenarioFile"} == {each.__name__ for each in MODELS} | {
        "Block"
    }


def test_what_belongs_into_a_turn_stands_beside_turns_in_no_schema() -> None:
    [_, several] = scenario_schema()["oneOf"]
    refused = {key for each in several["not"]["anyOf"] for key in each["required"]}
    assert refused == set(TurnFile.__struct_fields__) - {"prompt"}
    assert refused <= set(ScenarioFile.__struct_fields__)


def test_the_schema_offers_every_short_form() -> None:
    block = scenario_schema()["$defs"]["Block"]
    assert block["properties"].keys() == {"type", *FORMS}
    assert {"required": ["text"]} in block["anyOf"]


def test_every_reference_of_the_schema_leads_somewhere() -> None:
    schema = scenario_schema()
    references = re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema))
    assert references
    assert set(references) <= schema["$defs"].keys()


def test_the_docs_have_examples() -> None:
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: re.search("title: (.*)", example)[1])
def test_an_example_of_the_docs_is_a_right_scenario(example: str) -> None:
    assert parse_scenario(example.encode(), scenario_id="docs/example").turns
