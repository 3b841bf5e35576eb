"""Draws the pictures of the docs that need no browser: `python -m tests.docs.pictures`.

Those of the report page are made by `python -m tests.report.screenshot`, with a Chromium.
"""

from __future__ import annotations

from tests.docs.flow import flow
from tests.docs.pages import ROOT
from tests.docs.terminal import drawn, said

DOCS = ROOT / "docs"


def main() -> None:
    (DOCS / "data-flow.svg").write_text(flow(), encoding="utf-8")
    (DOCS / "terminal.svg").write_text(drawn(said()), encoding="utf-8")


if __name__ == "__main__":
    main()
