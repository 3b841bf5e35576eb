"""The pages people read, taken apart as GitHub and the site do it: blocks of code, links, headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("*/README.md"),
        *ROOT.glob("examples/**/README.md"),
    ]
)
_COMMENT = re.compile(r"<!--\s*(.*?)\s*-->", re.DOTALL)


class Block(NamedTuple):
    """A block of code."""

    page: Path
    line: int
    kind: str
    """The word behind the fence; nothing for a fence without one, `command` for an indented block."""
    text: str
    note: str
    """The comment that stands before it."""

    @property
    def place(self) -> str:
        return f"{name(self.page)}:{self.line}"


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@cache
def _tokens(page: Path) -> tuple[Token, ...]:
    return tuple(MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8")))


def _inline(page: Path) -> Iterator[tuple[int, Token]]:
    for token in _tokens(page):
        for child in token.children or ():
            yield (token.map or [0])[0] + 1, child


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    before: Token | None = None
    for token in _tokens(page):
        if token.type in ("fence", "code_block"):
            said = (
                _COMMENT.fullmatch(before.content.strip()) if before and before.type == "html_block" else None
            )
            kind = token.info.strip() if token.type == "fence" else "command"
            note = said[1] if said else ""
            found.append(Block(page, (token.map or [0])[0] + 1, kind, token.content, note))
        before = token
    return found


def spoken(page: Path) -> list[tuple[int, str]]:
    """Code within a sentence, with its line."""
    return [(line, token.content) for line, token in _inline(page) if token.type == "code_inline"]


def links(page: Path) -> list[tuple[int, str]]:
    """Where links and pictures lead, with their line."""
    return [
        (line, str(token.attrs.get("href") or token.attrs.get("src")))
        for line, token in _inline(page)
        if token.type in ("link_open", "image")
    ]


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: dict[str, int] = {}
    tokens = _tokens(page)
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            heading = "".join(child.content for child in inside.children or ())
            anchor = re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-")
            found[anchor] = found.get(anchor, -1) + 1
    return frozenset(
        f"{anchor}-{number}" if number else anchor
        for anchor, last in found.items()
        for number in range(last + 1)
    )
