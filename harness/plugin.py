"""The pytest surface: `conformance`, the fixtures `harness_provider` and `harness_loop`, recordings of tests.

pytest loads this file in every run of every project it is installed beside, so it imports pytest and a little
of the standard library; all else is imported by the first test that needs it. (PYTEST_DONT_REWRITE)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .case import Case
    from .cassettes.use import Use
    from .fake import FakeProvider
    from .runner import CaseResult, Runner
    from .turn import Declaration

_NAMES = ("harness.plugin", "loop_harness.plugin")
_OVERHEAD = 60.0
"""Seconds the outer net allows beside a scenario's own deadlines: for the start-up, the probe, a stop."""

RUNNERS = pytest.StashKey[dict["Suite", "Runner"]]()
RESULT = pytest.StashKey[dict[str, Any]]()
REPORTED = pytest.StashKey[dict[str, Any]]()
"""What the reports that were asked for are to say of a case."""
FOUND = pytest.StashKey[str]()
"""What a case found, for what all of them say together about a baseline."""
_cassette: pytest.StashKey[Use] = pytest.StashKey()


class Suite:
    """What `conformance` was called with. One runner serves all the cases of equal suites."""

    def __init__(
        self,
        loop: str | Callable[..., Any],
        scenarios: Path | None,
        select: tuple[str, ...],
        declaration: Declaration | None,
        seed: int | None,
        baseline: Path | None,
        profile: str | None = None,
    ) -> None:
        self.baseline = baseline
        self.profile = profile
        self.loop = loop
        self.scenarios = scenarios
        self.select = select
        self.declaration = declaration
        self.seed = seed

    def _key(self) -> tuple[Any, ...]:
        return self.loop, repr(self.declaration), self.seed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Suite) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def conformance(
    loop: str | Callable[..., Any],
    *,
    scenarios: str | Path | None = None,
    select: str | Sequence[str] = (),
    declaration: Declaration | Mapping[str, Any] | None = None,
    seed: int | None = None,
    baseline: str | Path | None = None,
    profile: str | None = None,
) -> Callable[..., None]:
    """A test function that judges `loop`, parametrized with every scenario in each of its variants.

    `loop` is `"pkg.mod:attr"`, which runs in a process of its own, or a callable, which runs in this one.
    `scenarios` is a folder of further scenario files, relative to pytest's root directory. `select` narrows
    the run as the command line's selectors do. `declaration` states the loop's documented choices. `baseline`
    is a file of known results, relative to pytest's root directory: they become strict xfails. `profile` is
    the name of a frozen set of clauses and scenarios: `"core-1"`.

        test_loop = conformance("my_agent.conformance:loop")
    """
    if not (isinstance(loop, str) or callable(loop)):
        raise pytest.Collector.CollectError(
            f"conformance({loop!r}): name the loop as 'package.module:attribute', or hand over a callable"
        )
    wanted = (select,) if isinstance(select, str) else tuple(select)
    folder = Path(scenarios) if scenarios is not None else None
    known = Path(baseline) if baseline is not None else None
    suite = Suite(loop, folder, wanted, _declared(declaration), seed, known, profile)

    def test_conformance(request: pytest.FixtureRequest, harness_case: Case) -> None:
        __tracebackhide__ = True
        from .plugin_case import judge

        judge(request, suite, harness_case)

    # pytest and editors go where the code says it is: to the line in the test file, not to this one.
    caller = sys._getframe(1)
    test_conformance.__code__ = test_conformance.__code__.replace(
        co_filename=caller.f_code.co_filename, co_firstlineno=caller.f_lineno
    )
    test_conformance.__module__ = caller.f_globals.get("__name__", __name__)
    test_conformance.loop_harness = suite  # type: ignore[attr-defined]
    return test_conformance


def _declared(declaration: Declaration | Mapping[str, Any] | None) -> Declaration | None:
    if not isinstance(declaration, Mapping):
        return declaration
    import msgspec

    from .declaration import problems_of
    from .turn import Declaration

    if wrong := [f"conformance(declaration=…): {each}" for each in problems_of(declaration)]:
        raise pytest.Collector.CollectError("\n".join(wrong))
    return msgspec.convert(declaration, Declaration)


# --- hooks -----------------------------------------------------------------------------------------


def pytest_plugin_registered(plugin: object, manager: pytest.PytestPluginManager) -> None:
    """Make the plugin's other name a name for nothing: one module must not be registered twice."""
    if plugin is sys.modules[__name__]:
        for name in _NAMES:
            if manager.get_plugin(name) is None:
                manager.set_blocked(name)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Say how recordings are made, and which reports are written."""
    parser.getgroup("loop-harness").addoption(
        "--harness-report",
        action="append",
        default=[],
        metavar="KIND:PATH",
        help="Write a report of the conformance tests: json, junit, html and others; see docs/reports.md.",
    )
    parser.getgroup("loop-harness").addoption(
        "--harness-record",
        nargs="?",
        const="all",
        default=None,
        choices=("none", "once", "all"),
        help="Record the cassettes of tests marked harness_cassette: all (default), or once: those missing.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Name the markers, and have the reports written that are asked for."""
    if not hasattr(config, "workerinput"):
        from .plugin_known import Together

        config.pluginmanager.register(Together(), "loop-harness known results")
    if config.option.harness_report and not hasattr(config, "workerinput"):
        from .plugin_report import Reporting

        config.pluginmanager.register(Reporting(config.option.harness_report), "loop-harness reports")
    config.addinivalue_line(
        "markers",
        "conformance(family, variant): a scenario of the loop-harness suite; "
        "`-m \"conformance(family='pause')\"` selects one family.",
    )
    config.addinivalue_line(
        "markers",
        "harness_cassette(path, *, redact, secrets, ignore, any_order): answer the test's requests from a "
        "recording, by default cassettes/MODULE/TEST.yaml beside it; --harness-record makes it.",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Turn a `conformance` function into one test per scenario variant."""
    suite = _suite_of(metafunc)
    if suite is not None:
        netted = metafunc.config.pluginmanager.hasplugin("timeout")
        cases = [_parameter(case, netted=netted) for case in _cases(metafunc.config, suite)]
        metafunc.parametrize("harness_case", cases)


def _suite_of(item: object) -> Suite | None:
    """The suite of a test that `conformance` made."""
    suite = getattr(getattr(item, "function", None), "loop_harness", None)
    return suite if isinstance(suite, Suite) else None


def _cases(config: pytest.Config, suite: Suite) -> list[Case]:
    from .chosen import find_cases
    from .runner import DEFAULT_SEED
    from .scenario.problems import ScenarioError
    from .scenario.select import SelectorError

    folder = config.rootpath / suite.scenarios if suite.scenarios else None
    try:
        if suite.baseline:
            from .baseline.asserted import known_results

            known_results(config.rootpath / suite.baseline, folder)
        seed = DEFAULT_SEED if suite.seed is None else suite.seed
        if suite.profile:
            from .profiles.score import asked_cases

            return asked_cases(suite.profile, suite.select, folder, seed)
        return find_cases(suite.select, folder, seed)
    except (ScenarioError, SelectorError) as error:
        raise pytest.Collector.CollectError(str(error)) from None


def _parameter(case: Case, *, netted: bool) -> Any:
    marks = [pytest.mark.conformance(family=case.scenario.id.partition("/")[0], variant=case.variant)]
    if netted:
        marks.append(pytest.mark.timeout(_net(case)))
    return pytest.param(case, id=f"{case.scenario.id}-{case.variant}", marks=marks)


def _net(case: Case) -> float:
    """Seconds after which a case is stopped from outside, whatever the loop declares."""
    from .stretched import LONGEST

    turns = case.scenario.turns
    stretched = LONGEST * sum(turn.limits.wall_clock is not None for turn in turns)
    return case.scenario.deadline * len(turns) + stretched + _OVERHEAD


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put what was judged on the report, where pytest-xdist carries it to the terminal's process."""
    report = yield
    if call.when == "call" and _suite_of(item):
        report.loop_harness = item.stash.get(RESULT, None)  # type: ignore[attr-defined]
        if REPORTED in item.stash:
            report.loop_harness_result = item.stash[REPORTED]  # type: ignore[attr-defined]
        if FOUND in item.stash:
            report.loop_harness_found = item.stash[FOUND]  # type: ignore[attr-defined]
        if report.skipped and isinstance(report.longrepr, tuple):
            path, line, _ = item.reportinfo()
            report.longrepr = (str(path), (line or 0) + 1, report.longrepr[2])
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Sum up, per loop, what passed with a remark and what could not be judged."""
    judged: dict[str, list[dict[str, Any]]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            found = getattr(report, "loop_harness", None)
            if found:
                judged.setdefault(found["loop"], []).append(found)
    if not judged:
        return
    from .report.summary import summary_lines

    for loop, results in judged.items():
        terminalreporter.write_sep("=", f"loop-harness: {loop}")
        for line in summary_lines(results):
            terminalreporter.write_line(line.text)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the processes the loops ran in, and the provider."""
    for runner in session.config.stash.get(RUNNERS, {}).values():
        runner.__exit__(None, None, None)
    session.config.stash[RUNNERS] = {}


# --- recordings ------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """Put the cassette in, before any fixture can ask anybody."""
    __tracebackhide__ = True
    marker = item.get_closest_marker("harness_cassette")
    if marker is not None:
        from .cassettes.marked import used

        mode = item.config.getoption("--harness-record")
        use, problem = used(item.path, item.name, marker.args, marker.kwargs, mode)
        if use is None:
            pytest.fail(problem, pytrace=False)
        item.stash[_cassette] = use
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Take it out with the end of the test itself, so that what was not as recorded fails the test."""
    __tracebackhide__ = True
    try:
        result = yield
    except BaseException as error:
        _take_out(item, error)
        raise
    _take_out(item, None)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """Where a fixture failed, there was no call."""
    _take_out(item, RuntimeError("the test was not run"))
    return (yield)


def _take_out(item: pytest.Item, failed: BaseException | None) -> None:
    __tracebackhide__ = True
    use = item.stash.get(_cassette, None)
    if use is not None:
        del item.stash[_cassette]
        if problem := use.end(failed):
            pytest.fail(problem, pytrace=False)


# --- fixtures --------------------------------------------------------------------------------------


@pytest.fixture
def harness_provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeProvider]:
    """A fake Messages API for ordinary tests: script it with `reply` and `fault`, look at `requests`.

    `ANTHROPIC_BASE_URL` and `ANTHROPIC_API_KEY` point to it while the test runs.
    """
    from .fake import FakeProvider, Unreachable

    blocked = ""
    try:
        fake = FakeProvider.start()
    except Unreachable as error:
        blocked = str(error)
    if blocked:  # not in the handler: pytest would show both errors
        pytest.fail(blocked, pytrace=False)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", fake.api_key)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    yield fake
    fake.close()


@pytest.fixture
def harness_loop(request: pytest.FixtureRequest) -> Callable[..., CaseResult]:
    """Run one scenario on a loop by hand: `harness_loop(loop, "pause/no-tools", variant="sse")`.

    Returns the `CaseResult` whatever its grade: `.grade`, `.checks`, `.events`.
    """

    def run(loop: str | Callable[..., Any], scenario: str, *, variant: str = "json") -> CaseResult:
        __tracebackhide__ = True
        from .plugin_case import runner_of

        suite = Suite(loop, None, (), None, None, None)
        case = _the_case(f"{scenario}[{variant}]")
        runner = runner_of(request, suite)
        problem = runner.probe().problem
        if problem:
            pytest.fail(f"The loop cannot be driven.\n\n{problem}", pytrace=False)
        return runner.run(case)

    return run


def _the_case(selector: str) -> Case:
    __tracebackhide__ = True
    from .chosen import find_cases
    from .scenario.select import SelectorError

    try:
        cases = find_cases((selector,))
        problem = "" if len(cases) == 1 else f"{selector} matches {len(cases)} scenarios; name one"
    except SelectorError as error:
        problem = str(error)
    if problem:
        pytest.fail(f"harness_loop: {problem}", pytrace=False)
    return cases[0]
