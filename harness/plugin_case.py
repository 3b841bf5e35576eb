"""One case as a test: played, judged, and told to pytest. Imported by the first one that runs.

(PYTEST_DONT_REWRITE)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from .plugin import FOUND, REPORTED, RESULT, RUNNERS

if TYPE_CHECKING:
    from .case import Case
    from .plugin import Suite
    from .runner import CaseResult, Runner


def judge(request: pytest.FixtureRequest, suite: Suite, case: Case) -> None:
    """Play one case to the suite's loop; the test ends as it was judged."""
    __tracebackhide__ = True
    runner = runner_of(request, suite)
    probe = runner.probe()
    if probe.problem:
        _undrivable(request, suite, runner.name, probe.problem)
    if case.variant not in probe.variants:
        _found(request, suite, runner, case, None)
        pytest.skip(f"the loop sends the same requests as [{probe.variants[0]}], which is run")
    result, stale = runner.run(case), ""
    if suite.profile:
        from .profiles.model import profile
        from .profiles.score import scored

        result = scored(result, profile(suite.profile), case.scenario.clauses)
    _found(request, suite, runner, case, result)
    if suite.baseline:
        from .baseline.asserted import held, known_results

        path, folder = _known(request.config.rootpath, suite.baseline, suite.scenarios)
        result, stale = held(known_results(path, folder), runner.name, case, result)
    if request.config.option.harness_report:
        _report(request, suite, runner, result=result, note=stale)
    _conclude(request, runner, result, suite.profile or "")
    if stale:
        pytest.fail(stale, pytrace=False)


def _known(root: Path, baseline: Path, scenarios: Path | None) -> tuple[Path, Path | None]:
    """Where the baseline is, and the further scenarios that it may name."""
    return root / baseline, root / scenarios if scenarios else None


def _found(
    request: pytest.FixtureRequest, suite: Suite, runner: Runner, case: Case, result: CaseResult | None
) -> None:
    """Leave what was found for the end, where all of it is held against the baseline."""
    if suite.baseline is None:
        return
    from .baseline.gathered import Found, told
    from .baseline.gathered import Suite as Held
    from .baseline.ledger import Played

    path, folder = _known(request.config.rootpath, suite.baseline, suite.scenarios)
    held = Held(
        baseline=str(path),
        folder=str(folder or ""),
        loop=runner.name,
        profile=suite.profile or "",
    )
    played = Played(case.scenario.id, case.variant)
    found = Found(suite=held, case=played, named=list(case.scenario.clauses), result=result)
    request.node.stash[FOUND] = told(found)


def _conclude(request: pytest.FixtureRequest, runner: Runner, result: CaseResult, profile: str) -> None:
    __tracebackhide__ = True
    from .report.lines import visible
    from .report.summary import digest
    from .report.text import case_lines

    request.node.stash[RESULT] = digest(runner.name, runner.probe().exposes, result, profile)
    if result.grade in ("fail", "error"):
        again = f"pytest '{request.node.nodeid}'"
        pytest.fail(visible("\n".join(line.text for line in case_lines(result, again))), pytrace=False)
    if result.grade == "known":
        from .baseline.asserted import reasons

        pytest.xfail(reasons(result))
    if result.grade == "unsupported":
        pytest.skip(result.reason or "the loop does not expose what this scenario needs")


def _report(
    request: pytest.FixtureRequest, suite: Suite, runner: Runner, *, result: CaseResult, note: str
) -> None:
    """Hand the verdict to the reports, which are written in another process under pytest-xdist."""
    from .plugin_report import told

    probe = runner.probe()
    of = _told(suite, runner.name) | {"exposes": probe.exposes, "notes": [*probe.notes, *note.splitlines()]}
    request.node.stash[REPORTED] = told(of, result)


def _told(suite: Suite, name: str) -> dict[str, Any]:
    from .runner import DEFAULT_SEED

    seed = DEFAULT_SEED if suite.seed is None else suite.seed
    return {"loop": name, "seed": seed, "profile": suite.profile or "", "notes": [], "result": ""}


def _undrivable(request: pytest.FixtureRequest, suite: Suite, name: str, problem: str) -> NoReturn:
    """Fail the first case with the explanation; the others of the run, in whatever process, point to it."""
    __tracebackhide__ = True
    from zlib import crc32

    folder: Path = request.getfixturevalue("tmp_path_factory").getbasetemp()
    if hasattr(request.config, "workerinput"):
        folder = folder.parent
    told = folder / f"loop-harness-{crc32(name.encode()):08x}"
    try:
        told.touch(exist_ok=False)
        if request.config.option.harness_report:
            from .plugin_report import cleaner

            of = _told(suite, name) | {"problem": cleaner().text(problem)}
            request.node.stash[REPORTED] = of
    except FileExistsError:
        pytest.skip(f"{name} cannot be driven: the first failure says why")
    pytest.fail(f"The loop cannot be driven, so nothing was judged.\n\n{problem}", pytrace=False)


def runner_of(request: pytest.FixtureRequest, suite: Suite) -> Runner:
    """The runner of the suite's loop, started by the first test that needs it."""
    __tracebackhide__ = True
    running = request.config.stash.setdefault(RUNNERS, {})
    if suite not in running:
        blocked = _start(running, suite)
        if blocked:
            _undrivable(request, suite, getattr(suite.loop, "__qualname__", str(suite.loop)), blocked)
    return running[suite]


def _start(running: dict[Suite, Runner], suite: Suite) -> str:
    """Add a runner for the suite, or tell what keeps it from the loopback."""
    from .reach import Unreachable, check_reachable, check_sockets
    from .runner import DEFAULT_SEED, Runner

    seed = DEFAULT_SEED if suite.seed is None else suite.seed
    try:
        check_sockets()
        runner = Runner(suite.loop, seed=seed, declaration=suite.declaration).__enter__()
        try:
            if callable(suite.loop):  # what is blocked here is blocked for it as well
                check_reachable(runner.url)
        except Unreachable:
            runner.__exit__(None, None, None)
            raise
    except Unreachable as error:
        return str(error)
    running[suite] = runner
    return ""
