"""The pictures in docs/reports.md: `python -m tests.report.screenshot` makes them anew, with a Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LOOPS = ("wrong=examples/wrong_loop.py:loop", "right=examples/right_loop.py:loop")
SELECTED = ("pause", "tool/kept", "tool/unknown", "tool/raises", "truncate/text", "thinking/tool-turn")
PICTURES = {
    "report.png": ("", 1120, 860),
    "report-run.png": ("#run=pause%2Fno-tools%5Bjson%5D&loop=wrong", 1120, 1440),
}


def browser() -> str | None:
    """The Chromium of this machine, if it has one."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def take(page: Path, to: Path, address: str, width: int, height: int) -> None:
    """A picture of the page. Raises `CalledProcessError`."""
    chromium = browser()
    assert chromium, "there is no Chromium"
    options = ["--headless", "--disable-gpu", "--hide-scrollbars", f"--window-size={width},{height}"]
    options += ["--no-sandbox"] if os.geteuid() == 0 else []
    command = [chromium, *options, f"--screenshot={to}", f"{page.as_uri()}{address}"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


def main() -> None:
    """Judge the examples, and take pictures of the page."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        loops = [word for loop in LOOPS for word in ("--loop", loop)]
        command = [sys.executable, "-m", "harness", "run", *SELECTED, *loops, "--report", f"html:{page}"]
        subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
        for name, (address, width, height) in PICTURES.items():
            take(page, ROOT / "docs" / name, address, width, height)


if __name__ == "__main__":
    main()
