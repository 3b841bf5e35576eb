"""The page in Chromium: opened, read, filtered, clicked through, copied from, printed; valid and accessible.

It takes npm and a Chromium. `HARNESS_NODE_REPORTS` names a folder to keep the packages in.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.report.html import render
from harness.report.kinds import View
from harness.report.model import LoopReport
from tests.report.samples import (
    KEPT,
    KNOWN,
    LOST,
    SLIGHT,
    UNCLEAR,
    cut,
    loop,
    report,
    result,
    right,
    undriven,
    wrong,
)

PACKAGES = ("axe-core@4.14.1", "html-validate@10.17.0", "puppeteer-core@25.16.0")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
RUN = "#run=tool%2Fone%5Bjson%5D&loop=wrong"
VIEWS = ["", RUN, "#clause=TOOL-2"]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    kept = os.environ.get("HARNESS_NODE_REPORTS")
    home = Path(kept) if kept else tmp_path_factory.mktemp("node")
    if not (home / "node_modules" / "puppeteer-core").is_dir():
        command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(home)]
        try:
            done = subprocess.run(
                [*command, *PACKAGES], cwd=home, capture_output=True, text=True, timeout=300, check=False
            )
        except subprocess.TimeoutExpired:
            pytest.skip("npm did not install the packages in time")
        if done.returncode:
            pytest.skip(f"npm cannot install the packages: {done.stderr.strip().splitlines()[-1:]}")
    return home


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of one loop, of three, of forty with 5,000 results, of one that could not be driven, of none."""
    folder = tmp_path_factory.mktemp("pages")
    some = [result(f"family{n % 9}/case{n}", "json", KEPT, *([LOST, SLIGHT, UNCLEAR] if n % 7 == 0 else []))
            for n in range(125)]  # fmt: skip
    many = [renamed(loop("many", *some), f"a-rather-long-name-{n}") for n in range(40)]
    made = {
        "one": report(wrong()),
        "three": report(wrong(), right(), undriven()),
        "forty": report(*many),
        "known": report(loop("mine", result("tool/one", "json", KEPT, KNOWN, grade="known"))),
        "gone": report(undriven()),
        "cut": report(cut()),
        "none": report(loop("empty")),
    }
    for name, one in made.items():
        (folder / f"{name}.html").write_text(render(one, View()))
    return folder


def renamed(one: LoopReport, name: str) -> LoopReport:
    return msgspec.structs.replace(one, name=name)


@pytest.fixture(scope="module")
def found(packages: Path, pages: Path) -> dict[str, Any]:
    """What a browser made of the pages."""
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        pytest.skip("there is no Chromium")
    jobs = {
        "chromium": chromium,
        "sandbox": os.geteuid() != 0,
        "pages": [
            {"file": str(pages / "one.html"), "hashes": VIEWS, "drive": True},
            {"file": str(pages / "three.html"), "hashes": VIEWS},
            {"file": str(pages / "forty.html"), "hashes": [""], "brief": True, "time": True},
            {"file": str(pages / "known.html"), "hashes": ["", "#run=tool%2Fone%5Bjson%5D&loop=mine"]},
            {"file": str(pages / "gone.html"), "hashes": [""]},
            {"file": str(pages / "cut.html"), "hashes": [""]},
            {"file": str(pages / "none.html"), "hashes": ["", "#nowhere", "#run=a&loop=b"]},
        ],
    }
    (pages / "jobs.json").write_text(json.dumps(jobs))
    script = Path(__file__).parent / "browser" / "drive.mjs"
    command = ["node", str(script), str(packages), str(pages / "jobs.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_nothing_goes_wrong_and_nothing_is_fetched(found: dict[str, Any]) -> None:
    assert found["troubles"] == []


def test_nothing_sticks_out_on_a_desktop_or_a_phone(found: dict[str, Any]) -> None:
    assert len(found["rendered"]) == 13
    assert found["overflows"] == []


def test_the_accessibility_checker_finds_nothing_in_light_or_dark(found: dict[str, Any]) -> None:
    assert found["violations"] == []


def test_the_validator_finds_nothing_before_or_after_the_script_ran(
    found: dict[str, Any], pages: Path, packages: Path
) -> None:
    rendered = pages / "rendered"
    rendered.mkdir(exist_ok=True)
    for number, text in enumerate(found["rendered"].values()):
        (rendered / f"{number}.html").write_text(
            re.sub(r"<script type=.*?</script>", "", text, flags=re.DOTALL)
        )
    # What the browser writes out is its own style, not ours. What is stored of the runs is looked at below.
    style = [
        "doctype-style",
        "void-style",
        "attribute-boolean-style",
        "attribute-empty-style",
        "no-inline-style",
        "no-trailing-whitespace",
    ]
    rules = {"extends": ["html-validate:recommended"], "rules": dict.fromkeys(style, "off")}
    (rendered / ".htmlvalidate.json").write_text(json.dumps({"root": True, **rules}))
    tool = str(packages / "node_modules" / ".bin" / "html-validate")

    for place in (rendered, pages / "one.html", pages / "three.html"):
        done = subprocess.run([tool, str(place)], capture_output=True, text=True, timeout=200, check=False)
        assert done.returncode == 0, done.stdout[-2000:]


def test_it_is_opened_filtered_clicked_through_and_gone_back_in(found: dict[str, Any]) -> None:
    steps = found["steps"]

    assert steps["opened"]["title"] == "wrong"
    assert steps["opened"]["rows"] == 1, "what is broken comes first"
    assert steps["all"]["rows"] == 5
    assert steps["searched"]["rows"] == 1
    assert steps["narrowed"]["rows"] == 1
    assert (steps["clause"]["title"], steps["clause"]["focus"]) == ("TOOL-2 MUST", "H1")
    assert steps["run"]["title"] == "tool/one[json] ✗ fail"
    assert "The call toolu_01A has no result" in steps["hit"]
    assert steps["shown"].split() == ["loop", "request", "hurt", "shown"]
    assert steps["copied"] == "loop-harness run 'tool/one[json]' --loop mine:loop --seed 7"
    assert steps["back"]["title"] == "TOOL-2 MUST"
    assert (steps["home"]["title"], steps["home"]["rows"]) == ("wrong", 1)
    assert steps["tabbed"]
    assert steps["case"]["title"].startswith("tool/one[json]")
    assert steps["printed"]


def test_nothing_but_keys_is_needed(found: dict[str, Any]) -> None:
    keys = found["keys"]

    assert keys["skip"] == "wrong"
    assert keys["clause"] == "TOOL-2 MUST"
    assert keys["run"] == "tool/one[json] ✗ fail"
    assert "shown" in keys["shown"].split()
    assert keys["back"] == "TOOL-2 MUST"
    assert keys["pages"] > 1000


def test_in_narrow_columns_names_show_what_sets_them_apart(found: dict[str, Any]) -> None:
    assert found["columns"][1:3] == [["…0", "a-rather-long-name-0"], ["…1", "a-rather-long-name-1"]]


def test_five_thousand_results_open_soon(found: dict[str, Any]) -> None:
    # Of the processor's time, of which it takes about 0.7.
    assert 0 < found["seconds"]["forty.html"] < 3
