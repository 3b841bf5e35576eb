"""The one file that makes a test of each scenario in Node's own test runner, with the loop in its process."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.languages.loops import EXAMPLES

HELPER = EXAMPLES / "node" / "harness.mjs"
WRONG = f"""
import {{ test }} from "node:test";
import {{ conformance }} from "{HELPER}";

await conformance(test, async (turn) => {{
  const {{ model, max_tokens, messages }} = turn;
  const headers = {{ "x-api-key": turn.api_key, "anthropic-version": "2023-06-01" }};
  headers["content-type"] = "application/json";
  const body = JSON.stringify({{ model, max_tokens, messages }});
  const answer = await fetch(`${{turn.base_url}}/v1/messages`, {{ method: "POST", headers, body }});
  const {{ content }} = await answer.json();
  return {{ status: "completed", shown: content.filter((one) => one.text).map((one) => one.text) }};
}}, ["truncate/text", "text/one"]);
"""


def run(folder: Path, file: Path, **env: str) -> str:
    """What Node's test runner says, with the harness of this checkout."""
    if shutil.which("node") is None:
        pytest.skip("not on this machine: node")
    command = folder / "loop-harness"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m harness "$@"\n', "utf-8")
    command.chmod(0o755)
    paths = {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = ["node", "--test", "--test-reporter=tap", str(file)]
    done = subprocess.run(
        arguments,
        cwd=folder,
        env={**os.environ, **paths, **env},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.slow
def test_each_scenario_is_a_test_and_a_broken_clause_its_message(tmp_path: Path) -> None:
    (tmp_path / "wrong.test.mjs").write_text(WRONG, "utf-8")
    said = run(tmp_path, tmp_path / "wrong.test.mjs")
    assert re.search(r"^ok \d - text/one\[json\]", said, re.MULTILINE), said
    assert re.search(r"^not ok \d - truncate/text\[json\]", said, re.MULTILINE)
    assert "TRUNC-1: " in said


@pytest.mark.slow
def test_the_loop_of_the_examples_passes_in_its_own_tests(tmp_path: Path) -> None:
    said = run(tmp_path, EXAMPLES / "node" / "loop.test.mjs", CONFORMANCE="tool/big-integers pause/no-tools")
    assert "# pass 4" in said
