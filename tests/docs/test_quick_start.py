"""Who follows docs/quick-start.md gets the verdicts that it tells of."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from harness.cli import _parser, main
from harness.commands.init_files import Answers, files
from tests.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "quick-start.md"
SHOWN = {block.note.rpartition(" as ")[2]: block.text for block in blocks(PAGE) if block.note}
COMMANDS = [line for block in blocks(PAGE) if block.kind == "command" for line in block.text.splitlines()]


def command(beginning: str) -> list[str]:
    """The words of the first command of the page that begins so."""
    return shlex.split(next(line for line in COMMANDS if line.startswith(beginning)))[1:]


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_the_agent_of_the_page_breaks_pause_1_and_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for file in ("agent.py", "conformance.py"):
        Path(file).write_text(SHOWN[file], encoding="utf-8")
    first = command("loop-harness run text/one pause/no-tools ")
    again = command("loop-harness run 'pause/no-tools[json]'")

    assert main(first) == 1
    told = capsys.readouterr().out
    assert "FAIL  PAUSE-1  " in told
    assert f"again     {shlex.join(['loop-harness', *again])}\n" in told

    part = SHOWN["the mended part of agent.py"]
    wrong = re.escape(part.partition("continue\n")[2])
    mended, times = re.subn(wrong, part, SHOWN["agent.py"])
    assert times == 1
    Path("agent.py").write_text(mended, encoding="utf-8")

    assert main(again) == 0


def test_init_writes_the_test_that_the_page_shows() -> None:
    words = _parser(["init"]).parse_args(command("loop-harness init "))
    answers = Answers(words.language, words.entry, words.streaming, words.queue, words.ci)
    [shown] = [block.text for block in blocks(PAGE) if block.text.startswith("# tests/test_conformance.py\n")]

    assert files(answers)["tests/test_conformance.py"].endswith(shown.partition("\n")[2])
