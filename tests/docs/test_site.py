"""The pages as a site: built without a warning, whole, and asking no other host for anything."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, links

DOCS = ROOT / "docs"
PAGES = sorted(path.stem for path in DOCS.glob("*.md"))
NEEDED = ("sphinx", "furo", "myst_parser")
ELSEWHERE = re.compile(r"(?:https?:)?//")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, NEEDED)),
        reason="it takes the extra `docs`: pip install '.[docs]'",
    ),
]


class Page(HTMLParser):
    """What a page of the site fetches, where its links lead, and what can be led to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        self.ids.add(told.get("id", ""))
        if tag == "a":
            self.links += [told["href"]] if "href" in told else []
        elif tag != "form":
            self.fetched += [
                told[name] for name in ("src", "href", "data", "srcset", "poster") if name in told
            ]


def build(source: Path, to: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-d",
        f"{to}-kept",
        str(source),
        str(to),
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = build(DOCS, folder)
    assert (built.returncode, built.stderr) == (0, "")
    return folder


def pages(site: Path) -> dict[str, Page]:
    return {path.name: Page(path) for path in site.glob("*.html")}


def test_every_page_is_in_it_in_the_order_of_the_start_page(site: Path) -> None:
    start = Page(site / "index.html")
    ordered = [target[:-3] for _, target in links(DOCS / "index.md") if re.fullmatch(r"[\w-]+\.md", target)]
    shown = [
        link[:-5] for link in start.links if re.fullmatch(r"[\w-]+\.html", link) and link != "index.html"
    ]

    assert sorted(ordered) == sorted(set(PAGES) - {"index"})
    assert shown[: len(ordered)] == ordered
    assert {f"{page}.html" for page in PAGES} <= {path.name for path in site.glob("*.html")}


def test_nothing_is_fetched_from_another_host(site: Path) -> None:
    fetched = [address for page in pages(site).values() for address in page.fetched]
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))

    assert len(fetched) > len(PAGES)
    assert [address for address in fetched if ELSEWHERE.match(address)] == []
    assert re.findall(r"""(?:@import|url\()\s*["']?(?:https?:)?//[^"')]*""", styles) == []


def test_its_own_links_lead_somewhere(site: Path) -> None:
    found = pages(site)
    lost = [
        (name, link)
        for name, page in found.items()
        for link in page.links
        if not ELSEWHERE.match(link) and not _leads(site, found, name, link)
    ]

    assert lost == []


def _leads(site: Path, found: dict[str, Page], name: str, link: str) -> bool:
    path, _, anchor = link.partition("#")
    path = path or name
    return (site / path).is_file() and (not anchor or path not in found or anchor in found[path].ids)


def test_a_link_that_leads_nowhere_keeps_it_from_being_built(tmp_path: Path) -> None:
    copy = Path(shutil.copytree(DOCS, tmp_path / "docs"))
    with (copy / "pytest.md").open("a", encoding="utf-8") as page:
        page.write("\n[nowhere](reports.md#no-such-heading)\n")

    built = build(copy, tmp_path / "site")

    assert built.returncode != 0
    assert "no-such-heading" in built.stderr
