"""What a session says, in figures and lists, written into `docs/proof.md` between two marks."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from cosmic_ray.work_item import TestOutcome

from tests.mutation.changes import Change
from tests.mutation.known import known
from tests.mutation.session import ROOT, Session

PAGE = ROOT / "docs" / "proof.md"
KINDS = {
    "equivalent": "The same for whoever runs it",
    "legal": "Another right loop",
    "unseen": "Not seen",
    "": "Not explained",
}
BY = {
    "history": "of these, by what a proof says of a kept history",
    "verdict": "of these, by nothing but another verdict on a kept history, which no proof is about",
    "test": "of these, by a unit test",
    "import": "of these, because they cannot be imported",
}


def write(session: Session) -> int:
    """Write the block of this part. Returns 1 where a survivor is not explained, or is none any more."""
    results = list(session.results())
    lines, stale = block(session.part, len(session.pending()), results)
    begin, end = f"<!-- made by `python -m tests.mutation {session.part}` -->", "<!-- end -->"
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(begin)
    after = rest.partition(end)[2]
    PAGE.write_text("\n".join([before + begin, *lines, end]) + after, encoding="utf-8")
    print("\n".join(lines[:12]))
    for where, was, now in stale:
        print(f"explained, but not a survivor: {where}: {was} -> {now}")
    return 1 if stale or any(line.startswith("**Not explained") for line in lines) else 0


def block(
    part: str, left: int, results: list[tuple[str, Change, TestOutcome | None, dict[str, Any]]]
) -> tuple[list[str], list[tuple[str, str, str]]]:
    """The figures and the survivors, and what is explained without having survived."""
    explained = known(part)
    counts = Counter[str]()
    alive: dict[str, dict[str, list[Change]]] = defaultdict(lambda: defaultdict(list))
    tried = set()
    for _, change, outcome, said in results:
        counts["made"] += 1
        if outcome is None:
            counts["none"] += 1
            continue
        tried.add(change.key)
        counts["hung"] += "hung" in said
        if outcome is TestOutcome.SURVIVED:
            one = explained.get(change.key)
            counts[one.kind if one else ""] += 1
            alive[one.kind if one else ""][one.why if one else ""].append(change)
        else:
            counts["caught"] += 1
            counts[_by(said)] += 1
    lines = [
        "",
        "| | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in _figures(counts, left)),
        "",
    ]
    for kind, title in KINDS.items():
        for why, changes in sorted(alive[kind].items()):
            lines += _group(title, why, changes)
    survived = {change.key for groups in alive.values() for changes in groups.values() for change in changes}
    return lines, sorted((tried - survived) & explained.keys())


def _figures(counts: Counter[str], left: int) -> list[tuple[str, object]]:
    caught = counts["caught"]
    real = caught + sum(counts[kind] for kind in KINDS)
    wrong = real - counts["equivalent"] - counts["legal"]
    found: list[tuple[str, object]] = [
        ("changes made", counts["made"]),
        ("that change nothing in the program (annotations)", counts["none"]),
        ("mutants", real),
        ("caught", caught),
        *((title, counts[by]) for by, title in BY.items() if counts[by]),
        ("of these, because they never ended", counts["hung"]),
        ("survivors: the same for whoever runs it", counts["equivalent"]),
        ("survivors: another right program", counts["legal"]),
        ("survivors: a fault that is not seen", counts["unseen"] + counts[""]),
        ("caught of those that are neither the same nor right", _share(caught, wrong)),
        ("caught of those that are not the same", _share(caught, real - counts["equivalent"])),
    ]
    return [*found, ("not tried", left)] if left else found


def _by(said: dict[str, Any]) -> str:
    """What caught a change to a check; scenarios, which catch those to the reference, are not told apart."""
    by = str(said.get("caught", ""))
    return "test" if "::" in by else by


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}, {100 * part / whole:.1f} %" if whole else "-"


def _group(title: str, why: str, changes: list[Change]) -> list[str]:
    shown = sorted({f"* {change.where}: `{_short(change.now)}`" for change in changes})
    return [f"**{title}.** {why}".rstrip(), "", *shown, ""]


def _short(line: str) -> str:
    line = line.partition("  # ")[0].replace("`", "'")
    return line if len(line) <= 100 else f"{line[:99]}…"
