"""What the suite finds in the SDK's own tool runner: `python -m tests.sdk_findings` writes the page about it.

Each finding belongs to one group, which says whether it is a fault or a choice; one that belongs to none
stops the command.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from textwrap import fill
from typing import TypeAlias

from harness.runner import CaseResult, Runner, cases_of
from harness.scenario.discover import find_scenarios

PAGE = Path(__file__).parent.parent / "docs" / "sdk-tool-runner.md"
FORMS = {"with a thread": "threaded", "without": "unthreaded"}
Results: TypeAlias = Mapping[str, Sequence[CaseResult]]
"""Form to its results."""


@dataclass(frozen=True)
class Group:
    """Findings with one cause."""

    title: str
    kind: str
    text: str
    telling: str
    """The clause whose message is the evidence."""
    scenarios: tuple[str, ...]
    """Beginnings of their ids."""


GROUPS = (
    Group(
        "An empty reply stays in the history",
        "fault",
        "A reply that ends the turn without content is appended as an assistant message without "
        "content. The API takes none: the next user message is answered with a 400.",
        "END-2",
        ("text/empty", "tool/empty-end"),
    ),
    Group(
        "Blank text stays in the history",
        "fault",
        "The model sometimes says nothing but a line break. Appended as it is, it makes the next "
        "request one that the API rejects; beside other blocks it may be rejected, so that is a warning "
        "only.",
        "HIST-6",
        ("text/blank", "tool/blank-text-beside"),
    ),
    Group(
        "A call that nobody will answer stays in the history",
        "fault",
        "A reply with a call that does not stop for `tool_use`, above all one cut by `max_tokens`, ends "
        "the loop. The call is not run, which is right, but it is kept, and the next request is "
        "rejected for a call without its result.",
        "HIST-3",
        ("truncate/tool-", "tool/call-without-stop"),
    ),
    Group(
        "A refused reply stays in the history",
        "fault",
        "What the model had begun to say before it declined is to be dropped, as the documentation of "
        "refusals asks. It is kept, empty or not, and goes back where the whole history is sent; over a "
        "thread it does not. What it was refused for is sent again either way, which is a warning.",
        "REFUSE-4",
        ("refuse/", "usage/refused", "exit/refused"),
    ),
    Group(
        "A search that was open when the model declined stays in the history",
        "fault",
        "A paused reply is resumed, and then refused. The server-run call of the first half has no "
        "result and will have none; sent back with the next user message it is rejected.",
        "HIST-3",
        ("pause/then-refused",),
    ),
    Group(
        "The beginning of a broken stream stays in the history",
        "fault",
        "Where a stream ends before its message does, the part that came is taken for the reply: no "
        "exception, and no stop reason. The text stands in the history as if it were whole, and a call "
        "in it as if it were to be answered.",
        "FAULT-7",
        ("fault/stream-",),
    ),
    Group(
        "A tool error without words is answered without words",
        "choice",
        "The runner passes on what a tool raised, also where that is nothing. The API takes it; the model "
        "learns that the call failed, and not how.",
        "TOOL-4",
        ("tool/raises-in-silence",),
    ),
    Group(
        "A reply of thinking alone is an end",
        "choice",
        "The runner ends where the reply says `end_turn`, and hands the message over. Whoever calls it "
        "sees that there is no text in it, and may ask again. A loop that shows its user nothing should "
        "not call that an answer.",
        "END-3",
        ("thinking/",),
    ),
)

HEAD = """\
# The SDK's tool runner

The tool runner of the `anthropic` package is the loop that most users of the API meet first, so it is an
outside oracle for this suite: where it is blamed, either the suite is wrong or there is something to know
about it. The adapter, `harness/loops/sdk_runner.py`, translates and decides nothing. It takes the history
that the runner would go on with as the conversation of the next turn.

    loop-harness run --loop harness.loops.sdk_runner:threaded
    loop-harness run --loop harness.loops.sdk_runner:unthreaded

`python -m tests.sdk_findings` plays both and writes this page, and `pytest -m slow
tests/test_sdk_findings.py` holds it to what they give. Made with anthropic {version}.

{counts}

A *fault* leaves behind what the API rejects, or what the model never finished, for the next request to
carry. All of them are about what the runner keeps: a caller for whom the conversation ends with the
runner never meets one, and one who goes on has to tidy up first. A *choice* is documented, or the
caller's to make. What else the catalogue asks of what the runner exposes, it keeps: parallel and failing
tools, unknown tools, pauses, containers, retries, thinking.

It has no wall clock, no cancellation, no checkpoint and no usage of the turn, and nothing is judged
there. Without `max_iterations` it goes on for as long as the model does, as its documentation says.
"""

BESIDE = """\
## Beside the runner

Outside its beta part, the client's stream helper (`client.messages.stream`) does not put together the input
of an `mcp_tool_use`: the block that `get_final_message` returns has `{}` for it, whatever was streamed. Nor
does it put together the content of a `compaction` block, which is `None` then. The helper of the beta part
does both. `tests/provider/test_sdk.py` shows it.
"""


def run() -> Results:
    """Every case, with a thread and without."""
    cases = cases_of(find_scenarios(), ("json", "sse"))
    results = {}
    for form, name in FORMS.items():
        with Runner(f"harness.loops.sdk_runner:{name}", jobs=os.cpu_count() or 1) as runner:
            runner.probe()
            results[form] = runner.run_all(cases)
    return results


def page(results: Results) -> str:
    """`docs/sdk-tool-runner.md`. Raises `ValueError` for what belongs to no group."""
    parts = [HEAD.format(version=metadata.version("anthropic"), counts="\n".join(_counts(results)))]
    left = set(_blamed(results))
    for number, group in enumerate(GROUPS, 1):
        found = [name for name in _blamed(results) if name.startswith(group.scenarios)]
        if not found:
            raise ValueError(f"nothing is found any more: {group.title}")
        left -= set(found)
        rows = "\n".join(_row(name, group, results) for name in found)
        parts.append(
            f"## {number}. {group.title}\n\n{fill(f'*A {group.kind}.* {group.text}', 116)}\n\n"
            f"| scenario | played | clauses | evidence |\n|---|---|---|---|\n{rows}\n"
        )
    if left:
        raise ValueError(f"findings that no group explains: {', '.join(sorted(left))}")
    return "\n".join([*parts, BESIDE])


def _counts(results: Results) -> Iterable[str]:
    yield "| | cases | without a finding | with a warning | with a failure | not judged |"
    yield "|---|---|---|---|---|---|"
    for form, found in results.items():
        grades = [result.grade for result in found]
        if wrong := [f"{result.id}: {result.reason}" for result in found if result.grade == "error"]:
            raise ValueError(f"errors of the harness: {', '.join(wrong)}")
        known = [grades.count(name) for name in ("pass", "warn", "fail")]
        counts = [len(grades), *known, len(grades) - sum(known)]
        yield f"| {form} | {' | '.join(map(str, counts))} |"


def _blamed(results: Results) -> list[str]:
    """Scenarios with a finding, in the order of the catalogue."""
    every = [result for found in results.values() for result in found if _clauses(result)]
    return list(dict.fromkeys(result.scenario for result in every))


def _clauses(result: CaseResult) -> dict[str, str]:
    return {check.clause: check.grade for check in result.checks if check.grade in ("fail", "warn")}


def _row(name: str, group: Group, results: Results) -> str:
    blamed = {
        form: [result for result in found if result.scenario == name and _clauses(result)]
        for form, found in results.items()
    }
    played = [
        f"{form}: {', '.join(result.variant for result in found)}" for form, found in blamed.items() if found
    ]
    every = [result for found in blamed.values() for result in found]
    graded = [(clause, grade) for result in every for clause, grade in _clauses(result).items()]
    failed = {clause for clause, grade in graded if grade == "fail"}
    told = [clause if clause in failed else f"{clause} (warning)" for clause in dict(graded)]
    worst = next((result for result in every if "fail" in _clauses(result).values()), every[0])
    return f"| `{name}` | {'; '.join(played)} | {', '.join(told)} | {_evidence(worst, group)} |"


def _evidence(result: CaseResult, group: Group) -> str:
    checks = [check for check in result.checks if check.grade in ("fail", "warn")]
    best = next((check for check in checks if check.clause == group.telling), checks[0])
    place = "" if best.request is None else f"request {best.request}"
    place += "" if best.block is None else f", block {best.block}"
    return f"{place}: {best.message}".replace("|", "\\|").removeprefix(": ")


def main() -> int:
    try:
        text = page(run())
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
