"""The kill matrix as a picture: mutants down, clauses across, a dot where a clause kills a mutant.

`python -m tests.picture` writes `docs/kill-matrix.html`, which needs nothing but a browser.
"""

from __future__ import annotations

from html import escape
from itertools import groupby
from pathlib import Path

from harness.clauses import CLAUSES, Clause
from tests.loops.mutants import MUTANTS, Mutant

PICTURE = Path(__file__).parent.parent / "docs" / "kill-matrix.html"

STYLE = """
:root { color-scheme: light dark; --ground: #fff; --ink: #1c2128; --faint: #d9dee4; --odd: #f4f6f8;
  --row: #dcebfd; --must: #b3261e; --should: #a06a00; --may: #3d6ea5; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181d; --ink: #dde3ea; --faint: #39414b;
  --odd: #1b2027; --row: #23364d; --must: #ff8a80; --should: #f2bf5e; --may: #8ab8ee; } }
body { margin: 1.5rem; background: var(--ground); color: var(--ink); font: 14px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .3rem; }
p { max-width: 46rem; margin: .3rem 0; }
.scroll { overflow: auto; max-height: calc(100vh - 11rem); border: 1px solid var(--faint); margin-top: 1rem; }
table { border-collapse: separate; border-spacing: 0; font: 11px/1 ui-monospace, monospace; }
thead th { position: sticky; top: 0; z-index: 2; background: var(--ground); vertical-align: bottom;
  padding: 4px 0; border-bottom: 1px solid var(--faint); font-weight: normal; cursor: help; }
thead th span { writing-mode: vertical-rl; transform: rotate(180deg); }
tbody th { position: sticky; left: 0; z-index: 1; background: var(--ground); text-align: left;
  font-weight: normal; padding: 0 10px 0 6px; white-space: nowrap; cursor: help;
  border-right: 1px solid var(--faint); }
thead th:first-child { left: 0; z-index: 3; }
td { min-width: 14px; height: 15px; padding: 0; text-align: center; }
tbody tr:nth-child(odd) :is(td, th) { background: var(--odd); }
tbody tr:hover :is(td, th) { background: var(--row); }
.first { border-left: 1px solid var(--faint); }
td b { display: block; width: 9px; height: 9px; margin: auto; border-radius: 50%; background: currentColor;
  cursor: help; }
.must { color: var(--must); } .should { color: var(--should); } .may { color: var(--may); }
p b { display: inline-block; width: 9px; height: 9px; border-radius: 50%; background: currentColor; }
"""


def picture() -> str:
    """`docs/kill-matrix.html`."""
    clauses = list(CLAUSES.values())
    places = {clause.id: place for place, clause in enumerate(clauses)}
    mutants = sorted(MUTANTS.values(), key=lambda one: [places[name] for name in one.clauses])
    starts = {next(group).id for _, group in groupby(clauses, key=lambda one: one.family)}
    kills = sum(len(mutant.clauses) for mutant in mutants)
    head = "".join(_column(clause, first=clause.id in starts) for clause in clauses)
    rows = "\n".join(_row(mutant, clauses, starts) for mutant in mutants)
    return f"""<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Kill matrix</title>
<style>{STYLE}</style>
<h1>Kill matrix</h1>
<p>Down: the reference loop with one thing wrong, {len(mutants)} times. Across: the {len(clauses)} clauses.
A dot stands where a clause has to kill a mutant, {kills} in all. Point at a dot or a name to read more.</p>
<p><b class="must"></b> MUST &ensp; <b class="should"></b> SHOULD &ensp; <b class="may"></b> MAY &ensp;
The same <a href="kill-matrix.md">as a table</a>, and <a href="proof.md">how it is proved</a>.</p>
<div class="scroll"><table>
<thead><tr><th></th>{head}</tr></thead>
<tbody>
{rows}
</tbody>
</table></div>
</html>
"""


def _column(clause: Clause, *, first: bool) -> str:
    title = escape(f"{clause.id} ({clause.level}): {clause.sentence}")
    return f'<th{_class(first)} title="{title}"><span>{clause.id}</span></th>'


def _row(mutant: Mutant, clauses: list[Clause], starts: set[str]) -> str:
    doc = " ".join(mutant.doc.split())
    cells = "".join(_cell(mutant, doc, clause, first=clause.id in starts) for clause in clauses)
    return f'<tr><th title="{escape(doc)}">{mutant.name}</th>{cells}</tr>'


def _cell(mutant: Mutant, doc: str, clause: Clause, *, first: bool) -> str:
    if clause.id not in mutant.clauses:
        return f"<td{_class(first)}>"
    title = escape(
        f"{mutant.name}: {doc}\nkilled by {clause.id}: {clause.sentence}\nin {', '.join(mutant.scenarios)}"
    )
    return f'<td{_class(first)}><b class="{clause.level.lower()}" title="{title}"></b>'


def _class(first: bool) -> str:
    return " class=first" if first else ""


def main() -> None:
    PICTURE.write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
