"""What the checks say in these tests, as text: read by somebody once, and then as it was read.

`said.txt` has every finding of the tests beside it, as a user gets it: which request, turn and block, and in
which words. Where a check says something else, its test fails; what is new is taken in, and what is said no
more goes, by `APPROVE=1 pytest tests/checks`. Read the difference before you commit it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.checks.base import Finding

SAID = Path(__file__).parent / "said.txt"


def worded(finding: Finding) -> str:
    """A finding as a paragraph: where it is, then what it says."""
    where = [finding.kind, *([finding.level] if finding.level else []), finding.evidence]
    where += [f"turn {finding.turn + 1}"]
    where += [f"request {finding.request}"] if finding.request is not None else []
    where += [f"block {finding.block}"] if finding.block is not None else []
    texts = [(name, getattr(finding, name)) for name in ("expected", "happened", "advice", "diff")]
    # Paragraphs end with an empty line, so that none may be in them.
    lines = [f"    {line or '~'}" for name, text in texts if text for line in f"{name}: {text}".split("\n")]
    return "\n".join([", ".join(where), *lines])


def approved(text: str) -> dict[str, set[str]]:
    """The paragraphs of a page by clause."""
    found: dict[str, set[str]] = {}
    for section in text.split("\n== ")[1:]:
        clause, _, rest = section.partition("\n\n")
        found[clause] = set(rest.strip("\n").split("\n\n"))
    return found


def page(said: Mapping[str, set[str]]) -> str:
    """The page that has these paragraphs."""
    sections = [f"== {clause}\n\n" + "\n\n".join(sorted(said[clause])) for clause in sorted(said)]
    return "\n" + "\n\n".join(sections) + "\n"
