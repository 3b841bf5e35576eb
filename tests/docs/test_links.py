"""Every link of the pages leads to something that is there; what is elsewhere is looked at, and not asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, anchors, links, name

ELSEWHERE = re.compile(r"https://[a-z0-9.-]+\.[a-z]{2,}(?:/[^\s<>]*)?(?:#[^\s<>]+)?")
"""What an address elsewhere looks like: encrypted, with a name, and not of this machine."""


def wrong(page: Path, target: str) -> str | None:
    """What is wrong with a link, or nothing."""
    if "://" in target or target.startswith("mailto:"):
        return None if ELSEWHERE.fullmatch(target) else "is no address that everybody can open"
    path, _, anchor = target.partition("#")
    file = (page.parent / path) if path else page
    if path.startswith("/") or not file.exists():
        return "is not there"
    if anchor and file.suffix == ".md" and anchor not in anchors(file):
        return "has no such heading"
    if anchor and file.suffix != ".md":
        return "has no headings to lead to"
    return None


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    told = [
        f"{name(page)}:{line}: {target} {what}"
        for line, target in links(page)
        if (what := wrong(page, target))
    ]

    assert told == []


@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("nowhere.md", "is not there"),
        ("/docs/ci.md", "is not there"),
        ("#no-such-heading", "has no such heading"),
        ("LICENSE#part", "has no headings to lead to"),
        ("http://127.0.0.1:80/", "is no address that everybody can open"),
    ],
)
def test_a_link_that_leads_nowhere_is_told(target: str, what: str) -> None:
    [readme] = [page for page in PAGES if name(page) == "README.md"]

    assert wrong(readme, target) == what


def test_the_start_page_leads_to_every_page() -> None:
    [start] = [page for page in PAGES if name(page) == "docs/index.md"]
    led = {target for _, target in links(start)}

    assert {page.name for page in PAGES if page.parent == start.parent} - {start.name} <= led


def test_the_pages_have_links_of_every_kind() -> None:
    targets = [target for page in PAGES for _, target in links(page)]

    assert any("#" in target and "://" not in target for target in targets)
    assert any(target.endswith(".png") for target in targets)
    assert any("://" in target for target in targets)
