"""What docs/protocol.md says is so: its example is run, its lines are valid, and it names everything."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import msgspec
import pytest

from harness.chosen import find_cases
from harness.loops.command import Command, split
from harness.loops.desk import ROUTES
from harness.loops.protocol import HelloLine, OutcomeBody, OutcomeLine, TurnLine
from harness.loops.protocol_schema import LINES, protocol_schema, schema_text
from harness.runner import Runner
from harness.turn import STATUSES, Limits

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")


def test_the_committed_schema_is_current():
    committed = (ROOT / "harness" / "protocol.schema.json").read_text(encoding="utf-8")
    assert committed == schema_text(), "make it anew: python -m harness.loops.protocol_schema"


def test_a_line_is_of_one_kind():
    definitions = protocol_schema()["$defs"]
    required = [frozenset(definitions[line.__name__]["required"]) for line in LINES]
    assert all(required)
    assert not any(one <= other for one in required for other in required if one is not other)


@pytest.mark.parametrize("names", [TurnLine.__struct_fields__, OutcomeBody.__struct_fields__, STATUSES])
def test_everything_that_can_be_said_is_on_the_page(names):
    for name in (*names, *Limits.__struct_fields__):
        assert f"`{name}`" in PAGE or f'"{name}"' in PAGE, name


def test_every_route_is_on_the_page():
    for route in ROUTES:
        assert re.search(rf"`(GET|POST) {route}`", PAGE), route


def test_the_lines_on_the_page_are_lines_of_the_protocol():
    kinds = {"protocol": TurnLine, "outcome": OutcomeLine, "hello": HelloLine}
    shown = [json.loads(block) for block in re.findall(r"```json\n([\s\S]*?)```", PAGE)]

    assert {next(iter(line)) for line in shown} == kinds.keys()
    for line in shown:
        msgspec.convert(line, kinds[next(iter(line))])


@pytest.mark.skipif(not (shutil.which("jq") and shutil.which("curl")), reason="it is made of curl and jq")
def test_the_adapter_on_the_page_is_judged(tmp_path):
    [script] = re.findall(r"```sh\n([\s\S]*?)```", PAGE)
    adapter = tmp_path / "adapter.sh"
    adapter.write_text(script)
    with Runner(Command(words=split(f"sh {adapter}"))) as runner:
        assert runner.probe().problem is None
        [paused, answered] = runner.run_all(find_cases(["pause/no-tools[json]", "text/one[json]"]))
    assert answered.grade == "pass", [check for check in answered.checks if check.grade == "fail"]
    assert "PAUSE-1" in {check.clause for check in paused.checks if check.grade == "fail"}
