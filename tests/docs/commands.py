"""Lines that are to be typed: taken apart as a shell would, and shown to what would read them."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from argparse import Namespace
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from itertools import groupby

import yaml

from harness.cli import _apart, _parser
from harness.scenario.discover import find_scenarios
from harness.scenario.model import Scenario
from harness.scenario.select import SelectorError, select
from tests.docs.pages import ROOT

PLACEHOLDER = re.compile(r"[A-Z][A-Z/.]*…?|.*…")
"""A word that stands for another: `SELECTOR…`, `FILE`, `…`."""
SHELL = {
    "[",
    "cd",
    "echo",
    "else",
    "eval",
    "exit",
    "fi",
    "if",
    "mkdir",
    "then",
    ".",
    "head",
    "apt",
    "npm",
    "sphinx-build",
}
"""What is not ours to check: the shell's own words, and installers of other languages."""
OURS = re.compile(r"(?:examples|bench|docs)/[\w./-]+")


def lines(text: str) -> list[str]:
    """The lines of a block, those that go on put together, without what is only said."""
    whole = re.sub(r"\\\n\s*", "", text).splitlines()
    return [line.strip() for line in whole if line.strip() and not line.lstrip().startswith("#")]


def commands(line: str) -> list[list[str]]:
    """The simple commands of a line, as words."""
    line = re.sub(r'eval "\$\((.*)\)"', r"\1", line)
    lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;")
    lexer.whitespace_split = True
    split = groupby(lexer, key=lambda word: set(word) <= set("&|;"))
    return [_unset(list(words)) for between, words in split if not between]


def _unset(words: list[str]) -> list[str]:
    """Without the variables that are set for the command."""
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words = words[1:]
    return words


def problems(line: str) -> list[str]:
    """What keeps a line from being one that can be typed."""
    try:
        parts = commands(line)
    except ValueError as error:
        return [str(error)]
    return [problem for words in parts if words for problem in _problems(words)]


def _problems(words: list[str]) -> Iterator[str]:
    for word in words:
        for path in OURS.findall(word):
            if not (ROOT / path).exists():
                yield f"{path} is not there"
    program, *rest = words
    program = program.rpartition("/")[2] if "venv/" in program or "harness/" in program else program
    if program == "then":
        yield from _problems(rest)
    elif program == "loop-harness":
        yield from _ours(rest)
    elif program in ("pip", "pipx"):
        yield from _installed(rest)
    elif program in ("python", "python3"):
        yield from _python(rest)
    elif program == "pre-commit":
        yield from _pre_commit(rest)
    elif program == "bash":
        yield from (f"{path} is not there" for path in rest[:1] if not (ROOT / path).exists())
    elif program == "pytest":
        yield from _pytest(rest)
    elif program not in SHELL:
        yield f"nobody knows what `{program}` is: a page that needs it says why in the comment before it"


def _ours(words: list[str]) -> Iterator[str]:
    try:
        options = parsed(words)
    except ValueError as error:
        yield str(error)
        return
    chosen = [word for word in getattr(options, "selectors", None) or () if not PLACEHOLDER.fullmatch(word)]
    try:
        select(_scenarios(), chosen)
    except SelectorError as error:
        yield str(error)


def parsed(words: list[str]) -> Namespace:
    """What the command line makes of these words. Raises `ValueError` with what it says against them."""
    own, _ = _apart(words)
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            return _parser(own).parse_args(own)
    except SystemExit as stop:
        raise ValueError(said.getvalue().strip().splitlines()[-1]) from stop


@cache
def _scenarios() -> tuple[Scenario, ...]:
    return tuple(find_scenarios([]))


def _installed(words: list[str]) -> Iterator[str]:
    extras = set(re.findall(r"^(\w+) = \[", _part("[project.optional-dependencies]"), re.MULTILINE))
    for word in words:
        for named in re.findall(r"^\.\[(.*)\]$", word):
            yield from (f"there is no extra {one}" for one in named.split(",") if one not in extras)


def _part(heading: str) -> str:
    return (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition(heading)[2].partition("\n[tool")[0]


def _python(words: Iterable[str]) -> Iterator[str]:
    flag, *rest = [*words, ""]
    if flag == "-m" and rest[0].partition(".")[0] in ("harness", "tests") and not find_spec(rest[0]):
        yield f"there is no module {rest[0]}"


def _pytest(words: list[str]) -> Iterator[str]:
    plugin = (ROOT / "harness" / "plugin.py").read_text(encoding="utf-8")
    for option in (word.partition("=")[0] for word in words if word.startswith("--harness-")):
        if f'"{option}"' not in plugin:
            yield f"the plugin has no option {option}"


def _pre_commit(words: list[str]) -> Iterator[str]:
    known = {hook["id"] for repo in _hooks() for hook in repo["hooks"]}
    if words[:1] == ["run"] and not words[1].startswith("-") and words[1] not in known:
        yield f"there is no hook {words[1]}"


def _hooks() -> list[dict[str, list[dict[str, str]]]]:
    read: dict[str, list[dict[str, list[dict[str, str]]]]] = yaml.safe_load(
        (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    )
    return read["repos"]
