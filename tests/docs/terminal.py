"""The picture of a terminal in the docs: what the command really printed there, in colour, as an SVG.

It is drawn by rich, in a form without its web font: a picture must not ask another server for anything.
"""

from __future__ import annotations

import io
import re
from html import unescape
from inspect import signature

from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

from tests.commanding import in_a_terminal
from tests.docs.pages import ROOT

WORDS = ("run", "pause/no-tools", "--loop", "examples/wrong_loop.py:loop")
COLUMNS = 104
LAST = "  again "
"""The line with which a failure ends; what the run says afterwards is not in the picture."""
_FACES = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
_CREDIT = re.compile(r"<!-- .*? -->\s*")


def said() -> str:
    """The failure as the terminal shows it, without the bar, and with times that are the same in each run."""
    printed = re.sub(r"\x1b\[\?25[lh]|\x1b\[2K|\x1b\[\d*[AG]", "", in_a_terminal(ROOT, *WORDS, COLUMNS="100"))
    lines = [line.rpartition("\r")[2] for line in printed.replace("\r\n", "\n").split("\n")]
    shown = [line for line in lines if not re.search(r"\d/\d\S* +\S*\d:\d\d:\d\d", line)]
    last = next(number for number, line in enumerate(shown) if line.startswith(LAST))
    return re.sub(r"\d+\.\d{3}(?= )", "0.000", "\n".join(shown[: last + 1])).lstrip() + "\n"


def drawn(said: str) -> str:
    """`docs/terminal.svg`."""
    console = Console(
        record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="standard"
    )
    command = " ".join(["loop-harness", *WORDS])
    console.print(Text.from_ansi(f"$ {command}\n{said}"), soft_wrap=True)
    usual = str(signature(console.export_svg).parameters["code_format"].default)
    form = _CREDIT.sub("", _FACES.sub("", usual)).replace("Fira Code,", "")
    return console.export_svg(title="", theme=SVG_EXPORT_THEME, code_format=form, unique_id="terminal") + "\n"


def words(svg: str) -> str:
    """What is written in the picture: how it is drawn is for the version of rich to decide."""
    return " ".join(unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", svg, flags=re.DOTALL)).split())
