"""The catalogue of clauses as a page: `python -m harness.catalogue_doc > docs/clauses.md`."""

from __future__ import annotations

from .clauses import CLAUSES, FAMILIES, Clause
from .turn import EXPOSABLE

_INTRO = """\
# The clauses

<!-- Generated from harness/clauses by `python -m harness.catalogue_doc > docs/clauses.md`. -->

What a loop is judged by. A broken MUST is a `fail`, a broken SHOULD a `warn`. A clause may hold a weaker part
("should"), which is a `warn` too. Ids are never given to anything else.

Each clause rests on one of three grounds: *recorded* (a public recording of the real API shows it),
*documented* (the API's documentation says it), *construction* (the loop lost what it was seen to be given).
A clause whose evidence a loop does not expose is `unsupported` for it, which is no fault:
[what can be exposed](#what-a-loop-can-expose) is listed at the end.
"""


def render_catalogue() -> str:
    """The page in Markdown, ending in a newline."""
    parts = [_INTRO, _overview()]
    for name, about in FAMILIES.items():
        clauses = [clause for clause in CLAUSES.values() if clause.family == name]
        if clauses:
            parts.append(f"## {name}: {about}\n")
            parts += [_entry(clause) for clause in clauses]
    parts.append(_exposable())
    return "\n".join(parts)


def _overview() -> str:
    levels = [clause.level for clause in CLAUSES.values()]
    return f"{len(levels)} clauses: {levels.count('MUST')} MUST, {levels.count('SHOULD')} SHOULD.\n"


def _entry(clause: Clause) -> str:
    lines = [
        f"### {clause.id}\n",
        f"**{clause.level}.** {clause.sentence}\n",
        f"* Without it: {_lower_first(clause.reason)}",
        f"* Ground: {clause.ground}. {_linked(clause.source)}",
        f"* What to do: {clause.advice}",
    ]
    if clause.needs:
        lines.append(f"* Judged where the loop exposes {' and '.join(map(_need, clause.needs))}.")
    return "\n".join(lines) + "\n"


def _need(need: str) -> str:
    return " or ".join(f"`{name}`" for name in need.split("|"))


def _lower_first(sentence: str) -> str:
    # An acronym or a code word stays as it is.
    keep = sentence[1:2].isupper() or not sentence[:1].isalpha()
    return sentence if keep else sentence[0].lower() + sentence[1:]


def _linked(source: str) -> str:
    words = [f"<{word}>" if word.startswith("https://") else word for word in source.split(" ")]
    return " ".join(words)


def _exposable() -> str:
    rows = "\n".join(f"| `{name}` | {how} |" for name, how in _hooks())
    return f"## What a loop can expose\n\n| name | how |\n|---|---|\n{rows}\n"


def _hooks() -> list[tuple[str, str]]:
    return [(name, how.replace("|", "\\|")) for name, how in EXPOSABLE.items()]


if __name__ == "__main__":
    print(render_catalogue(), end="")
