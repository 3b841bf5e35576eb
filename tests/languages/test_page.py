"""What docs/other-languages.md shows as a first loop runs, and gets the verdict the page tells of."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from harness.loops.command import Command
from harness.probe import Probe
from tests.languages.loops import EXAMPLES, verdicts

PAGE = EXAMPLES.parent / "docs" / "other-languages.md"


def test_the_first_loop_of_the_page_gets_the_verdict_it_tells_of(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("not on this machine: node")
    shown = re.findall(r"runs this as (\S+) -->\n```js\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    for name, text in shown:
        (tmp_path / name).write_text(text, "utf-8")
    command = Command(words=("node", str(tmp_path / "conformance.mjs")))
    got = verdicts(command, ["text/one[json]", "pause/no-tools[json]"], Probe(exposes=["shown"]))
    assert got["text/one[json]"].grade == "pass"
    assert "PAUSE-1" in {one.clause for one in got["pause/no-tools[json]"].checks if one.grade == "fail"}


def test_every_loop_of_the_page_is_one_of_the_examples() -> None:
    words = re.findall(r"examples/\w+/\w+(?:\.\w+)*", PAGE.read_text("utf-8"))
    assert words
    assert [word for word in words if not (EXAMPLES.parent / word).exists()] == []
