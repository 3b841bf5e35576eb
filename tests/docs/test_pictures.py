"""The pictures of the docs are those that the commands draw today, and ask no server for anything."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.docs.flow import flow
from tests.docs.pages import PAGES, ROOT, blocks, links
from tests.docs.pictures import DOCS
from tests.docs.terminal import drawn, said, words

DRAWN = sorted(DOCS.glob("*.svg"))


def test_the_picture_of_the_flow_is_current() -> None:
    assert (DOCS / "data-flow.svg").read_text(encoding="utf-8") == flow()


def test_the_picture_of_the_terminal_shows_what_the_readme_shows() -> None:
    shown = words((DOCS / "terminal.svg").read_text(encoding="utf-8"))
    [readme] = [
        block.text for block in blocks(ROOT / "README.md") if block.text.startswith("$ loop-harness run")
    ]

    assert shown.startswith(" ".join(readme.removesuffix("…\n").split()))


@pytest.mark.slow
def test_the_picture_of_the_terminal_shows_what_is_printed_today() -> None:
    shown = words((DOCS / "terminal.svg").read_text(encoding="utf-8"))

    assert "FAIL PAUSE-1 The turn ended on the pause" in shown
    assert shown == words(drawn(said()))


@pytest.mark.parametrize("picture", DRAWN, ids=lambda path: path.name)
def test_a_picture_is_well_formed_and_fetches_nothing(picture: Path) -> None:
    text = picture.read_text(encoding="utf-8")

    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert re.findall(r"(?:url\(|href=|src=|@import)\s*[\"']?\s*(?:https?:|//)", text) == []


def test_every_picture_is_shown_somewhere() -> None:
    shown = {
        (page.parent / target).resolve() for page in PAGES for _, target in links(page) if "://" not in target
    }

    assert {path for path in DOCS.iterdir() if path.suffix in (".svg", ".png")} <= shown
    assert len(DRAWN) >= 2
    assert (ROOT / "docs" / "report.png") in shown
