"""docs/adapters.md: what became of every scenario in each language.

python -m tests.languages.table Node PHP    plays these anew; without a name only the page is written
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from harness.runner import CaseResult
from tests.languages.loops import LANGUAGES, REFERENCE, Language, clauses, compared, verdicts

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


def played(language: Language, right: dict[str, CaseResult]) -> dict[str, Any]:
    """Play one language through everything; `right` is what became of the reference loop."""
    results, differ = compared(right, language)
    families: dict[str, Counter[str]] = {}
    for name, result in results.items():
        families.setdefault(name.split("/")[0], Counter())[result.grade] += 1
    decided = {clause for one in results.values() for clause in clauses(one)}
    return {
        "families": {name: dict(counts) for name, counts in sorted(families.items())},
        "clauses": len(decided),
        "differences": differ,
    }


def page(kept: dict[str, Any]) -> str:
    """The table, a row for each family of scenarios and a column for each language."""
    names = [one.name for one in LANGUAGES if one.name in kept]
    families = sorted({family for name in names for family in kept[name]["families"]})
    rows = [["scenarios", *names], ["---"] * (len(names) + 1)]
    columns = [kept[name]["families"] for name in names]
    rows += [[family, *(_cell(one.get(family, {})) for one in columns)] for family in families]
    rows.append(["all", *(_cell(sum(map(Counter, one.values()), Counter())) for one in columns)])
    rows.append(["clauses judged", *(str(kept[name]["clauses"]) for name in names)])
    return HEAD + "\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _cell(counts: dict[str, int]) -> str:
    return ", ".join(f"{counts[grade]} {grade}" for grade in GRADES if counts.get(grade)) or "-"


def main(names: list[str]) -> None:
    right = verdicts(REFERENCE, [], jobs=2) if names else {}
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    for language in LANGUAGES:
        if language.name in names:
            kept[language.name] = one = played(language, right)
            print(language.name, *one["differences"], sep="\n  ", flush=True)
        # One by one, for each of them takes minutes.
        KEPT.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    PAGE.write_text(page(kept), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
