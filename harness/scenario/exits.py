"""The exit-path sweep: every way a turn can end, alone and three times in a row, from one description.

These scenarios are made, not written: `exit/refused-1` is a turn that ends refused, `exit/refused-3` is one
conversation of three equal turns, each ending so. What has to be the same on all of them is judged in each:
what the turn leaves behind, and that nothing grows from turn to turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from .expand import expand
from .model import Scenario

TURNS: Final = (1, 3)
"""How many equal turns a conversation has. Two points tell a difference, three tell growth."""
LANDING: Final = ("CLEAN-1", "CLEAN-3", "CLEAN-4", "CLEAN-5", "CLEAN-8", "USAGE-1", "USAGE-3")
"""Clauses of every exit path."""
NEED: Final = {"CLEAN-3": {"publish"}, "CLEAN-4": {"publish"}, "CLEAN-5": {"usage"}}
"""Clauses that cannot be asked for where one of these hooks fails."""
AGAIN: Final = ("HIST-8", "CLEAN-7")
"""Clauses that take a turn after the one that ended so."""

Json: TypeAlias = dict[str, Any]
Script: TypeAlias = Callable[[int], list[Json]]


@dataclass(frozen=True, kw_only=True)
class ExitPath:
    """One way to end a turn, as it would be written in a scenario file."""

    name: str
    title: str
    why: str
    script: Script
    """The steps of turn N."""
    expect: Json
    turn: Json = field(default_factory=dict)
    """Further keys of the turn: `limits`, `cancel`."""
    tool: Json = field(default_factory=dict)
    """Further keys of the tool `fetch`."""
    hooks: Json = field(default_factory=dict)
    """Hooks that fail."""
    clauses: tuple[str, ...] = ("USAGE-2",)
    """Clauses beside those of every path."""


def scenarios() -> list[Scenario]:
    """All of the sweep, ordered by id."""
    made = [_scenario(path, turns) for path in PATHS for turns in TURNS]
    return sorted(made, key=lambda scenario: scenario.id)


def values(path: ExitPath, turns: int) -> Json:
    """What the scenario's file would hold, blocks written out."""
    many = "once" if turns == 1 else f"{turns} times in one conversation"
    return {
        "title": f"{path.title}, {many}",
        "clauses": [
            *(clause for clause in LANDING if not set(path.hooks) & set(NEED.get(clause, ()))),
            *path.clauses,
            *(AGAIN if turns > 1 else ()),
        ],
        "why": path.why,
        "turns": [
            {"prompt": f"Do task {n}.", "script": path.script(n), "expect": path.expect, **path.turn}
            for n in range(1, turns + 1)
        ],
        "tools": {"fetch": {"description": "Fetches a part.", "result": "a part", **path.tool}},
        "hooks": path.hooks,
        # A loop that nothing stops is stopped soon, before it fills the memory.
        "deadline": 5.0 if any("repeat" in step for step in path.script(1)) else 10.0,
    }


def _scenario(path: ExitPath, turns: int) -> Scenario:
    return expand(values(path, turns), scenario_id=f"exit/{path.name}-{turns}", path="", seed=0)


def _reply(stop_reason: str, *content: Json, **more: Any) -> Json:
    return {"reply": {"stop_reason": stop_reason, "content": list(content), **more}}


def _text(words: str) -> Json:
    return {"type": "text", "text": words}


def _call(n: int, part: int = 1) -> Json:
    return {"type": "tool_use", "name": "fetch", "input": {"task": n, "part": part}}


def _calls(n: int, **more: Any) -> Json:
    return _reply("tool_use", _call(n), **more)


def _ends(stop_reason: str, words: str) -> Script:
    """A tool turn that ends for this reason."""
    return lambda n: [_calls(n), _reply(stop_reason, _text(f"{words} {n}."))]


PATHS: Final[tuple[ExitPath, ...]] = (
    ExitPath(
        name="finished",
        title="A turn that finishes leaves nothing behind",
        why="what is left behind by the turns that go well is there in all of them, and adds up",
        script=_ends("end_turn", "Done with task"),
        expect={"requests": 2, "status": "completed", "tools": {"fetch": 1}},
        clauses=(),
    ),
    ExitPath(
        name="cancelled",
        title="A cancelled turn leaves as one that finishes",
        why="the exit of a cancelled turn is often a bare return, past the code that cleans up",
        script=lambda n: [
            _calls(n),
            _reply("tool_use", _call(n, 2), _call(n, 3)),
            _reply("end_turn", _text(f"Never said of task {n}.")),
        ],
        expect={"requests": 2, "status": "cancelled"},
        turn={"cancel": {"at": "request 2"}},
        clauses=("CLEAN-2", "USAGE-2"),
    ),
    ExitPath(
        name="capped",
        title="A turn that reaches its iteration cap leaves as one that finishes",
        why="a loop that falls out of its `while` past the clean-up leaves the client waiting for the end",
        script=lambda n: [{**_calls(n, delay=0.01), "repeat": "forever"}],
        expect={"requests": 2, "status": "capped"},
        turn={"limits": {"max_iterations": 2}},
    ),
    ExitPath(
        name="late",
        title="A turn that runs out of time leaves as one that finishes",
        why="what the deadline interrupts is torn down somewhere in the middle, and cleans up nothing",
        script=lambda n: [_calls(n), _reply("end_turn", _text(f"Too late for task {n}."))],
        expect={"requests": 1, "status": "capped"},
        turn={"limits": {"wall_clock": 0.3}},
        tool={"delay": 0.8},
    ),
    ExitPath(
        name="truncated",
        title="A truncated turn leaves as one that finishes",
        why="a reply that is cut is dealt with where it arrives, and what comes after is skipped",
        script=_ends("max_tokens", "Half of what is to be said of task"),
        expect={"requests": 2, "status": "truncated"},
    ),
    ExitPath(
        name="refused",
        title="A refused turn leaves as one that finishes",
        why="a refusal is raised as an error by many a loop, from where nothing is counted or cleared",
        script=lambda n: [_calls(n), _reply("refusal", _text(f"I cannot do task {n}."))],
        expect={"requests": 2, "status": "refused"},
    ),
    ExitPath(
        name="paused",
        title="A turn that is paused too often leaves as one that finishes",
        why="the cap on pauses is an afterthought in most loops, and so is what happens there",
        script=lambda n: [
            _reply("pause_turn", *_searched(n, 1)),
            _reply("pause_turn", *_searched(n, 2)),
            {**_reply("pause_turn", *_searched(n, 3), delay=0.01), "repeat": "forever"},
        ],
        expect={"requests": 2, "status": "capped"},
        # A loop that counts no pauses is to leave here as well, at the cap that it has.
        turn={"limits": {"pauses": 1, "max_iterations": 2}},
    ),
    ExitPath(
        name="failed",
        title="A turn the provider fails leaves as one that finishes",
        why="an error of the API leaves through an exception, past whatever stands at the end of the loop",
        script=lambda n: [
            _calls(n),
            {"fault": {"status": 403, "message": f"Task {n} is not permitted for this key."}},
        ],
        expect={"requests": 2, "status": "failed"},
    ),
    ExitPath(
        name="crashed",
        title="A turn whose tool fails leaves as one that finishes",
        why="an exception out of a tool tears down the turn of a loop that expects none",
        script=_ends("end_turn", "Without that part, done with task"),
        expect={"requests": 2, "status": "completed", "tools": {"fetch": 1}},
        tool={"result": None, "raises": "the part is lost"},
        clauses=("TOOL-4",),
    ),
    ExitPath(
        name="unseen",
        title="A turn whose publish hook fails leaves as one that finishes",
        why="a client that closed its window takes down the turn, and the answer that was paid for",
        script=_ends("end_turn", "Unseen, but done with task"),
        expect={"requests": 2, "status": "completed", "tools": {"fetch": 1}},
        hooks={"publish": "The display is gone."},
        clauses=("CLEAN-6",),
    ),
    ExitPath(
        name="uncounted",
        title="A turn whose usage hook fails leaves as one that finishes",
        why="a database that is down when usage is recorded keeps the rest of the clean-up from being done",
        script=_ends("end_turn", "Uncounted, but done with task"),
        expect={"requests": 2, "status": "completed", "tools": {"fetch": 1}},
        hooks={"usage": "The counter is gone."},
        clauses=("CLEAN-6",),
    ),
)
"""Every exit path, in the order in which a turn meets them."""


def _searched(n: int, page: int) -> list[Json]:
    """A server-run search of its own, answered at once."""
    return [
        {"type": "server_tool_use", "name": "web_search", "input": {"query": f"task {n}, page {page}"}},
        {
            "type": "web_search_tool_result",
            "content": [
                {
                    "type": "web_search_result",
                    "title": f"Page {page} on {n}",
                    "url": f"https://example.com/{n}/{page}",
                    "encrypted_content": f"cGFnZSB7{n}{page}",
                    "page_age": None,
                }
            ],
        },
    ]
