"""Scenario + loop + deadline -> history -> verdict: the synchronous face of everything below.

The provider and all waiting live in one event loop in a background thread; each worker has a driver of its
own (a host process, or this process for a loop handed over as an object). Judging happens in the thread
that asked, so that it never delays a byte of the provider.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from .beside import ties_of
from .case import Case, CaseRun, Terms, history_path
from .client_probe import explore_client
from .history import AnyEvent, Overran
from .judge import CheckResult, judge, scenario_grade
from .loops.driver import Driver, DriverError
from .loops.host import HostDriver
from .loops.inprocess import InProcessDriver
from .loops.place import Place, Target
from .probe import Probe, explore
from .probe_scripts import TEXT
from .provider.server import Provider
from .pulse import Pulse
from .retrial import hangs_on_time, settle
from .serving import Serving
from .signals import ignored_here_alone
from .turn import Declaration

T = TypeVar("T")
DEFAULT_SEED = 1
SOON = 0.02
"""Seconds after a turn of the probe in which its hooks may still be called."""
START_DEADLINE = 30.0
"""Seconds a loop may take to be imported."""


class CaseResult(msgspec.Struct, kw_only=True):
    """The verdict on one case, with the history it rests on."""

    scenario: str
    variant: str
    grade: str
    seconds: float = 0.0
    checks: list[CheckResult] = []
    reason: str = ""
    """One line, for `error` and `unsupported`."""
    events: list[AnyEvent] = []
    history: str | None = None
    """Where the history is stored."""

    @property
    def id(self) -> str:
        """`pause/no-tools[sse]`; without a variant (a recording) only the name."""
        return f"{self.scenario}[{self.variant}]" if self.variant else self.scenario


class Smoke(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the shortest of all turns."""

    problem: str = ""
    """Why the loop could not be started."""
    events: list[AnyEvent] = []
    strangers: list[str] = []
    """Requests to the provider that belonged to nobody."""


class Runner:
    """Runs cases against one loop. Use it as a context manager; its methods may be called from any thread.

    `target` is `pkg.mod:attr` (runs in a host process, unless `in_process`), a callable (runs here), or what
    makes a driver itself, such as a `Command`.
    With a `probe` from an earlier run of the same loop, none is made. `port` is the provider's; 0 for any.
    """

    def __init__(  # noqa: PLR0913 - a form to fill in, by name
        self,
        target: str | Target | Callable[..., Any],
        *,
        in_process: bool = False,
        jobs: int = 1,
        seed: int = DEFAULT_SEED,
        declaration: Declaration | None = None,
        history_dir: Path | None = None,
        probe: Probe | None = None,
        port: int = 0,
    ) -> None:
        self._target = target
        self._here = in_process or callable(target)
        self._jobs = 1 if self._here else max(1, jobs)
        self._seed = seed
        self._declaration = declaration
        self._history_dir = history_dir
        self._stays = getattr(target, "keep_alive", True)
        """A process plays several turns, so that it pays to warm it up."""
        self._provider = Provider()
        self._pulse = Pulse()
        self._signals = ignored_here_alone()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="loop-harness", daemon=True)
        self._drivers: list[Driver] = []
        self._idle: asyncio.Queue[int] = asyncio.Queue()
        self._cold: set[int] = set()
        self._probe = probe
        self._port = port
        self._probing = threading.Lock()

    def __enter__(self) -> Self:
        self._thread.start()
        self._call(self._open())
        self._signals.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._signals.__exit__(None, None, None)
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def name(self) -> str:
        """What the reports call the loop."""
        if isinstance(self._target, str):
            return self._target
        return _name_of(self._target) if callable(self._target) else self._target.name

    @property
    def url(self) -> str:
        """Where the provider listens."""
        return self._provider.url

    @property
    def declaration(self) -> Declaration:
        """What the loop declares; known once it was probed."""
        return self._drivers[0].declaration if self._drivers else Declaration()

    def probe(self) -> Probe:
        """Find out, once, what the loop exposes. A problem there means that it cannot be driven."""
        with self._probing:
            if not self._drivers:
                self._probe = self._call(self._explore())
            return self._probe or Probe()

    def smoke(self, deadline: float) -> Smoke:
        """Play the first of the probe's scripts, once, and tell what happened; for a runner not used yet."""
        return self._call(self._smoke(deadline))

    def run(self, case: Case) -> CaseResult:
        """Play one case and judge it."""
        return self.run_all([case])[0]

    def run_all(
        self, cases: Sequence[Case], on_result: Callable[[CaseResult], None] | None = None
    ) -> list[CaseResult]:
        """Play the cases, as many at a time as there are workers. Results come in the order of `cases`.

        `on_result` is called once for each, when it is settled.
        """
        tell = on_result or (lambda _: None)
        if problem := self.probe().problem:
            return [_not_played(case, problem, tell) for case in cases]
        futures = [self._submit(self._play(case)) for case in cases]
        results: list[CaseResult] = []
        try:
            for case, future in zip(cases, futures, strict=True):
                results.append(self._judged(case, future.result()))
                if not hangs_on_time(results[-1].checks):
                    tell(results[-1])
        finally:
            for future in futures:
                future.cancel()
        for place, case in enumerate(cases):
            if hangs_on_time(results[place].checks):
                results[place] = self._tried_again(case, results[place])
                tell(results[place])
        return results

    # Below this line everything but `_judged` runs in the background thread.

    async def _smoke(self, deadline: float) -> Smoke:
        if problem := await self._ready():
            return Smoke(problem=problem)
        scenario = msgspec.structs.replace(TEXT, deadline=deadline)
        terms = self._terms()
        events, _ = await self._played(Case(scenario, "json"), 0, terms)
        if ties := ties_of(events):
            terms = msgspec.structs.replace(terms, ties=ties)
            events, _ = await self._played(Case(scenario, "json"), 0, terms)
        return Smoke(events=events, strangers=list(self._provider.strangers))

    async def _ready(self) -> str:
        """Start the drivers; why that cannot be done, else nothing."""
        try:
            self._drivers = [self._new_driver(number) for number in range(self._jobs)]
            if any(driver.reach != "turn" for driver in self._drivers):
                self._provider.standby = Serving.of_anything("sk-ant-standby").session
            await self._start_all()
        except DriverError as error:
            return str(error)
        except TimeoutError:
            return f"{self.name}: importing it took more than {START_DEADLINE:.0f} s"
        return ""

    async def _explore(self) -> Probe:
        if problem := await self._ready():
            return Probe(problem=problem)
        for number, driver in enumerate(self._drivers):
            self._idle.put_nowait(number)
            # The probe warms up the first; where it was made earlier, nobody has.
            if (self._probe or (number and self._stays)) and driver.killable:
                self._cold.add(number)
        if self._probe:
            return self._probe
        first = self._drivers[0]
        unseen = msgspec.structs.replace(self._terms(), history_dir=None)
        # Who asks beside the conversation may do so after it; that a callable does is seen at its first turn.
        known = msgspec.structs.replace(unseen, after=SOON) if first.reach == "turn" else unseen
        played: list[Case] = []

        async def play(case: Case, ties: Sequence[str] = ()) -> list[AnyEvent]:
            terms = msgspec.structs.replace(known if played else unseen, ties=list(ties))
            played.append(case)
            events, _ = await self._played(case, 0, terms)
            return events

        if first.reach != "turn":
            return await explore_client(play, first, self._provider.url)
        return await explore(play, first, self._provider.url)

    async def _start_all(self) -> None:
        """Start the drivers side by side, and be through with all of them before the first error is told."""
        starts = [asyncio.wait_for(driver.start(), START_DEADLINE) for driver in self._drivers]
        for result in await asyncio.gather(*starts, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result

    def _new_driver(self, number: int) -> Driver:
        if callable(self._target):
            return InProcessDriver(self._target, declaration=self._declaration)
        if not isinstance(self._target, str):
            return self._target.driver(self._place(number))
        if self._here:
            return InProcessDriver.load(self._target, declaration=self._declaration)
        # A client made when the module is imported gets here too: the worker's path finds the session.
        base_url = f"{self._provider.url}/w{number}"
        return HostDriver(self._target, declaration=self._declaration, base_url=base_url)

    def _place(self, number: int) -> Place:
        return Place(
            worker=f"w{number}",
            url=self._provider.url,
            mount=self._provider.mount,
            unmount=self._provider.unmount,
            asked=self._provider.used,
            busy=self._provider.busy,
            proxy=self._provider.proxy(f"w{number}"),
            declaration=self._declaration,
        )

    def _terms(self) -> Terms:
        probe = self._probe or Probe()
        return Terms(
            loop=self.name,
            seed=self._seed,
            exposes=probe.exposes,
            startup=probe.startup,
            finished=probe.finished,
            phrases=probe.phrases,
            ties=probe.ties,
            alone=self._jobs == 1,
            history_dir=self._history_dir,
        )

    async def _play(self, case: Case) -> tuple[list[AnyEvent], float]:
        worker = await self._idle.get()
        if worker in self._cold:
            self._cold.discard(worker)
            await self._warm(worker)
        return await self._played(case, worker, self._terms(), lambda: self._idle.put_nowait(worker))

    async def _played(
        self, case: Case, worker: int, terms: Terms, free: Callable[[], None] = lambda: None
    ) -> tuple[list[AnyEvent], float]:
        """The events of one case and its seconds; `free` is called when the worker may take the next."""
        began = time.monotonic()
        run = CaseRun(self._provider, self._drivers[worker], f"w{worker}", case, terms, self._pulse)
        try:
            await run.play()
            await run.census()
            if run.left_cold and self._stays:
                await self._warm(worker)
            seconds = time.monotonic() - began
        finally:
            free()
        await run.finish()
        return run.history.events, seconds

    async def _warm(self, worker: int) -> None:
        """Let a new process import what it needs to ask, as the probe did with the first."""
        driver, terms = self._drivers[worker], Terms(loop=self.name, seed=self._seed)
        run = CaseRun(self._provider, driver, f"w{worker}", Case(TEXT, "json"), terms, self._pulse)
        await run.play()
        await run.forget()

    async def _open(self) -> None:
        await self._provider.start(port=self._port)
        self._pulse.start()

    async def _close(self) -> None:
        await self._pulse.stop()
        await asyncio.gather(*(driver.close() for driver in self._drivers))
        await self._provider.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _tried_again(self, case: Case, first: CaseResult) -> CaseResult:
        """The verdict of a second run, with nothing beside it; of the first, where there can be no second."""
        stuck = self._here and any(isinstance(event, Overran) for event in first.events)
        second = first if stuck else self._judged(case, self._call(self._play(case)))
        checks = settle(first.events, second.events, second.checks)
        grade = second.grade
        if checks != second.checks:
            grade = scenario_grade(checks, frozenset(case.scenario.clauses))
        return msgspec.structs.replace(second, checks=checks, grade=grade)

    def _judged(self, case: Case, played: tuple[list[AnyEvent], float]) -> CaseResult:
        events, seconds = played
        return judged(case, events, seconds, self._history_dir)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        future = self._submit(work)
        try:
            return future.result()
        finally:
            future.cancel()  # of an interrupt: what goes on would start another process for the loop


def judged(case: Case, events: list[AnyEvent], seconds: float, folder: Path | None) -> CaseResult:
    """The verdict on a case by what happened in it; `folder` is where histories are stored."""
    verdict = judge(events)
    path = history_path(folder, case)
    return CaseResult(
        scenario=case.scenario.id,
        variant=case.variant,
        grade=verdict.grade,
        seconds=round(seconds, 3),
        checks=verdict.checks,
        reason=verdict.reason,
        events=events,
        history=str(path) if path else None,
    )


def _not_played(case: Case, problem: str, tell: Callable[[CaseResult], None]) -> CaseResult:
    """The result of a case of a loop that cannot be driven."""
    why = f"not run: {problem.splitlines()[0]}"
    result = CaseResult(scenario=case.scenario.id, variant=case.variant, grade="error", reason=why)
    tell(result)
    return result


def cases_of(scenarios: Iterable[Any], variants: Sequence[str]) -> list[Case]:
    """The cases of `scenarios` in those of their variants the loop can be run in."""
    return [
        Case(scenario, variant)
        for scenario in scenarios
        for variant in scenario.variants
        if variant in variants
    ]


def _name_of(target: Callable[..., Any]) -> str:
    module = getattr(target, "__module__", "")
    name = getattr(target, "__qualname__", type(target).__qualname__)
    return f"{module}:{name}"
