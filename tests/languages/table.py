"""docs/adapters.md: what became of every scenario in each language.

python -m tests.languages.table Node PHP       plays these anew; without a name only the page is written
python -m tests.languages.table --missing      plays only what is new or has changed since
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from harness.case import Case
from harness.chosen import find_cases
from harness.runner import CaseResult
from tests.languages.loops import LANGUAGES, REFERENCE, Language, clauses, compared, verdicts

Kept: TypeAlias = dict[str, Any]
"""For each language the `clauses` that were judged and the `differences`; for each of the `cases` the
scenario it was played `of`, and its grade in each language."""

KEPT = Path(__file__).with_name("verdicts.json")
PAGE = Path(__file__).parents[2] / "docs" / "adapters.md"
GRADES = ("pass", "unsupported", "inconclusive", "warn", "fail", "error")
HEAD = """# Loops in other languages

<!-- made by `python -m tests.languages.table`; do not edit by hand -->

The loops of [examples/](../examples), each played through every scenario as `loop-harness run` does it, and
how many cases ended how. The reference loop was played beside them: no clause got another grade than there.
`unsupported` is what a loop does not expose: checkpoints in Node, Ruby and shell, tools of its own in PHP.
`inconclusive` is a case that never came to the clause it is about: a loop that never streams (PHP, Ruby)
meets no broken stream. A language that is not listed here is judged by its tests alone, in a few scenarios.
"""


def digest(case: Case) -> str:
    """Changes with the scenario, but not with a comment in its file, nor with who makes up its texts."""
    if not case.scenario.path:
        return hashlib.sha256(msgspec.json.encode(case.scenario)).hexdigest()[:8]
    lines = Path(case.scenario.path).read_text("utf-8").splitlines()
    told = [line for line in lines if not line.lstrip().startswith("#")]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:8]


def missing(kept: Kept, name: str, now: Mapping[str, str]) -> list[str]:
    """The cases a language was not played, or not as they are `now`: their digests by their ids."""
    cases = kept["cases"]
    return [one for one, of in now.items() if cases.get(one, {}).get("of") != of or name not in cases[one]]


def merge(
    kept: Kept, name: str, results: Mapping[str, CaseResult], differ: list[str], now: Mapping[str, str]
) -> None:
    """Put what became of some cases of a language in the place of what was known of them."""
    cases = kept["cases"]
    for one, result in results.items():
        if cases.get(one, {}).get("of") != now[one]:
            cases[one] = {"of": now[one]}
        cases[one][name] = result.grade
    kept["cases"] = {one: cases[one] for one in now if one in cases}
    decided = {clause for result in results.values() for clause in clauses(result)}
    known = kept["clauses"].get(name, []) if len(results) < len(now) else []
    kept["clauses"][name] = sorted(decided.union(known))
    others = [line for line in kept["differences"].get(name, []) if _case(line) not in results]
    kept["differences"][name] = [line for line in others if _case(line) in now] + differ


def _case(line: str) -> str:
    return line.partition(" ")[0].rstrip(":")


def page(kept: Kept, now: Sequence[str]) -> str:
    """The table, a row for each family of scenarios and a column for each language."""
    names = [one.name for one in LANGUAGES if one.name in kept["clauses"]]
    families = sorted({one.split("/")[0] for one in now})
    counts: dict[str, dict[str, Counter[str]]] = {
        name: {family: Counter() for family in (*families, "all")} for name in names
    }
    for one in now:
        for name in names:
            grade = kept["cases"].get(one, {}).get(name, "not played yet")
            counts[name][one.split("/")[0]][grade] += 1
            counts[name]["all"][grade] += 1
    rows = [["scenarios", *names], ["---"] * (len(names) + 1)]
    rows += [[family, *(_cell(counts[name][family]) for name in names)] for family in (*families, "all")]
    rows.append(["clauses judged", *(str(len(kept["clauses"][name])) for name in names)])
    return HEAD + "\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _cell(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts[grade]} {grade}" for grade in (*GRADES, "not played yet") if counts.get(grade))


def read() -> Kept:
    """What was played last."""
    kept: Kept = json.loads(KEPT.read_text("utf-8"))
    return kept


def write(kept: Kept) -> None:
    """Keep what was played, a case a line."""
    text = json.dumps({**kept, "cases": "CASES"}, indent=1)
    lines = [f"  {json.dumps(one)}: {json.dumps(grades)}" for one, grades in kept["cases"].items()]
    KEPT.write_text(text.replace('"CASES"', "{\n" + ",\n".join(lines) + "\n }") + "\n", "utf-8")


def digests() -> dict[str, str]:
    """All cases there are now, and what each is."""
    return {case.id: digest(case) for case in find_cases()}


def main(names: Sequence[str], *, only_missing: bool = False) -> None:
    now, kept = digests(), read()
    wanted = [one for one in LANGUAGES if one.name in (names or ())]
    if only_missing and not names:
        wanted = [one for one in LANGUAGES if not one.lacking()]
    todo = {one.name: missing(kept, one.name, now) if only_missing else list(now) for one in wanted}
    union = [one for one in now if any(one in each for each in todo.values())]
    right = verdicts(REFERENCE, union, jobs=2) if union else {}
    for language in wanted:
        _play(language, todo[language.name], right, kept, now)
        # One by one, for each of them takes minutes.
        write(kept)
    PAGE.write_text(page(kept, list(now)), "utf-8")


def _play(
    language: Language, todo: list[str], right: dict[str, CaseResult], kept: Kept, now: Mapping[str, str]
) -> None:
    if not todo:
        return
    results, differ = compared(right, language, todo)
    merge(kept, language.name, results, differ, now)
    print(f"{language.name}: {len(results)} played", *differ, sep="\n  ", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Play loops in other languages, and write docs/adapters.md.")
    parser.add_argument(
        "names", nargs="*", choices=[[], *(one.name for one in LANGUAGES)], metavar="LANGUAGE"
    )
    parser.add_argument("--missing", action="store_true", help="only what is new or has changed since")
    options = parser.parse_args()
    main(options.names, only_missing=options.missing)
