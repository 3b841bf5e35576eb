"""The pages as a site: `pip install '.[docs]' && sphinx-build -W docs build/site`.

The pages are written for a reader of the repository, too, so nothing in them is Sphinx's own. The order of
the site is that of the links in `index.md`; what only means something in a checkout is put right here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

project = "loop-harness"
author = "The loop-harness maintainers"
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["README.md"]
html_theme = "furo"
html_title = "loop-harness"
html_use_index = False
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
myst_heading_anchors = 4
COPIED = {"kill-matrix.html": "kill-matrix-picture.html"}
"""Pages that Sphinx does not make, and their names in the site, where that of the table is taken."""
myst_url_schemes = {"http": None, "https": None, "mailto": None, "beside": "{{path}}"}

_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")


def put_right(_app: Any, name: str, source: list[str]) -> None:
    """Links for a site, and in the start page the order of all pages."""
    source[0] = _LINK.sub(_put_right, source[0])
    if name == root_doc:
        source[0] += "\n".join(_order(source[0]))


def _put_right(found: re.Match[str]) -> str:
    text, target = found.groups()
    if target in COPIED:
        return f"[{text}](beside:{COPIED[target]})"
    # A folder is something of the checkout: its name is told, and it cannot be opened here.
    return text if (HERE / target.partition("#")[0]).is_dir() else found[0]


def _order(page: str) -> list[str]:
    """A list of pages for each heading of the start page that has links below it."""
    lines: list[str] = []
    for part in page.split("\n## ")[1:]:
        heading = part.partition("\n")[0]
        pages = [
            f"{text} <{target[:-3]}>"
            for text, target in _LINK.findall(part)
            if re.fullmatch(r"[\w-]+\.md", target)
        ]
        if pages:
            lines += ["", "```{toctree}", ":hidden:", f":caption: {heading}", "", *pages, "```"]
    return lines


def copy(app: Any, failed: Exception | None) -> None:
    """The pages that Sphinx does not make, with links that lead to those it made."""
    for name, copied in COPIED.items() if failed is None else ():
        page = (HERE / name).read_text(encoding="utf-8").replace('.md"', '.html"')
        (Path(app.outdir) / copied).write_text(page, encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", put_right)
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
