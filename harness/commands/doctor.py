"""`doctor`: plays the shortest turn to a loop and explains the first step that goes wrong, if any does."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping

from ..clauses import CLAUSES
from ..doctor import Kind, Rung, climb
from ..loops.exposing import how_to_expose
from ..probe_scripts import FIRST_DEADLINE
from ..report.coverage import unexposed
from ..report.lines import Line, counted, labelled
from ..runner import Runner, Smoke
from ..turn import POLICIES, Declaration
from . import CANNOT_BE_DRIVEN, Stop
from .services import port_of
from .target import Contender, contenders, declared_by
from .terminal import show

MOST_OUTPUT = 30
"""Lines of what a loop printed that are shown."""
_MARKS = {
    "ok": ("ok", "good"),
    "wrong": ("WRONG", "bad"),
    "lacking": ("LACKS", "warn"),
    "unknown": ("-", "dim"),
}


def run(options: Namespace) -> int:
    """Look at the loop; 0 where it can be judged."""
    if len(options.loop) + len(options.lines) + len(options.http) > 1:
        raise Stop("doctor looks at one loop at a time")
    kind = _kind(options)
    try:
        [loop] = contenders(options, seed=1)
    except Stop as stop:
        if not str(stop).startswith("--command: "):
            raise
        return _tell(climb(Smoke(problem=str(stop).removeprefix("--command: ")), kind))
    with _runner(loop, options) as runner:
        rungs = climb(runner.smoke(options.deadline or FIRST_DEADLINE), kind)
    code = _tell(rungs)
    if code == 0:
        _works(loop, options, how_to_expose("process" if kind == "agent" else kind))
    return code


def _kind(options: Namespace) -> Kind:
    if options.http:
        return "service"
    return "agent" if options.answer else "process" if options.lines else "python"


def _runner(loop: Contender, options: Namespace) -> Runner:
    return Runner(
        loop.target,
        in_process=options.in_process,
        declaration=declared_by(options),
        port=port_of(options),
    )


def _tell(rungs: list[Rung]) -> int:
    show(line for rung in rungs for line in _rung_lines(rung))
    return CANNOT_BE_DRIVEN if any(rung.state == "wrong" for rung in rungs) else 0


def _rung_lines(rung: Rung) -> Iterator[Line]:
    mark, style = _MARKS[rung.state]
    yield Line(f"{mark:<7}{rung.name}", style)
    if rung.found:
        yield from labelled("", rung.found, indent=7, column=0)
    if rung.advice:
        yield from labelled("advice", rung.advice, indent=7, column=8)
    said = rung.output.splitlines()
    if said:
        left_out = [f"… {counted(len(said) - MOST_OUTPUT, 'more line')}"] if len(said) > MOST_OUTPUT else []
        yield Line("       it printed", "dim")
        yield from (Line(f"         {line}") for line in [*left_out, *said[-MOST_OUTPUT:]])


def _works(loop: Contender, options: Namespace, how: Mapping[str, str]) -> None:
    """What the loop exposes, declares, and can be judged by."""
    with _runner(loop, options) as runner:
        probe = runner.probe()
        declared = runner.declaration
    if probe.problem:
        raise Stop(probe.problem, CANNOT_BE_DRIVEN)
    show(
        [Line(""), *_found_lines(probe.exposes, declared, how), *(Line(note, "dim") for note in probe.notes)]
    )


def _found_lines(exposes: list[str], declared: Declaration, how: Mapping[str, str]) -> Iterator[Line]:
    missing = unexposed(exposes)
    lacking = {clause for clauses in missing.values() for clause in clauses}
    judged = len(CLAUSES) - len(lacking)
    yield from labelled("it uses", ", ".join(exposes) or "no hook", indent=0, column=14)
    chosen = [f"{name}: {declared.policies[name]}" for name in POLICIES if name in declared.policies]
    open_ = [
        f"{name} ({' or '.join(choices)})"
        for name, choices in POLICIES.items()
        if name not in declared.policies
    ]
    yield from labelled("it declares", ", ".join(chosen) or "no policy", indent=0, column=14)
    if open_:
        yield from labelled("undeclared", ", ".join(open_), indent=0, column=14)
    yield from labelled("judged", f"{judged} of {len(CLAUSES)} clauses can be", indent=0, column=14)
    for name, clauses in missing.items():
        text = f"{', '.join(clauses)}; to have this judged, {how[name]}"
        yield from labelled("not judged", text, indent=0, column=14)
