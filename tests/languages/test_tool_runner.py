"""The tool runner of the TypeScript SDK is judged by an adapter; what it gets wrong is written down."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from harness.loops.command import Command
from harness.probe import Probe
from tests.languages.loops import EXAMPLES, verdicts

EXPOSED = Probe(exposes=["cancel", "history", "iterations", "shown", "status", "tools"])


@pytest.fixture
def sdk() -> Command:
    folder = os.environ.get("HARNESS_NODE_SDK", "")
    if shutil.which("node") is None or not Path(folder, "node_modules", "@anthropic-ai", "sdk").is_dir():
        pytest.skip("HARNESS_NODE_SDK names no folder with the TypeScript SDK, or there is no node")
    return Command(words=("node", str(EXAMPLES / "node" / "sdk.mjs")), cwd=Path(folder))


def test_it_goes_on_after_a_pause_and_rounds_an_integer_beyond_2_53(sdk: Command) -> None:
    got = verdicts(sdk, ["pause/then-tool[json]", "tool/big-integers[json]"], EXPOSED)
    assert got["pause/then-tool[json]"].grade == "pass"
    broken = {one.clause for one in got["tool/big-integers[json]"].checks if one.grade == "fail"}
    assert broken == {"TOOL-6", "HIST-1"}
