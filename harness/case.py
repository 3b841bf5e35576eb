"""One case played against one loop: provider session, turns, hooks, cancellation -> history."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import platform
import zlib
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from . import clock
from .history import (
    Answered,
    AnyEvent,
    Began,
    Broken,
    Cancelled,
    Claimed,
    Crashed,
    Ended,
    Finished,
    History,
    Lost,
    Noted,
    Overran,
    Published,
    RequestSeen,
    TurnBegan,
)
from .keys import given_key, is_key, own_key
from .killing import Memory, Watch, crashed
from .loops.driver import Driver
from .own_tools import own_tool
from .provider.server import Provider
from .provider.session import Session
from .provider.tokens import token_of
from .pulse import Pulse
from .rival import LOADS, PATIENCE, WAITS, Claims, Rival
from .scenario.model import Scenario, TurnScript
from .stretched import stretched, widened
from .turn import EXPOSABLE, HANGUP, INTERRUPTS, TurnSpec

AFTER = 0.1
"""Seconds after the outcome in which no request may come."""
RESTART = 20.0
"""Seconds a turn gets on top where a new process has to load the loop and its libraries in it."""
INTO_RETRY = 0.1
"""Seconds after a request has failed in which a turn that is to be cancelled at `retry` is."""
ROW = 3
"""Turns that are counted one by one, so that what grows is seen to grow."""
SETTLING = 0.05
"""Seconds in which what a turn has ended may be gone, before what is left is counted."""
BETWEEN = 0.02
"""Seconds between two turns of a conversation: what comes later is the next turn's."""


class Case(msgspec.Struct, frozen=True):
    """A scenario in one of its variants."""

    scenario: Scenario
    variant: str

    @property
    def id(self) -> str:
        """`pause/no-tools[sse]`."""
        return f"{self.scenario.id}[{self.variant}]"


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What is the same for every case of a run."""

    loop: str
    seed: int
    exposes: list[str] = []
    startup: float = 0.0
    finished: list[list[tuple[str, str]]] = []
    """What finished answers look like, and in `phrases` what the loop adds to them in words."""
    phrases: list[str] = []
    ties: list[str] = []
    """By what the conversation is told from what the loop asks beside it; nothing where it asks nothing."""
    alone: bool = True
    """No other case is played beside this one, so that the provider itself may refuse connections for it."""
    history_dir: Path | None = None
    after: float = AFTER
    """Seconds after a turn in which something may still come."""


_numbers = itertools.count(1)


class CaseRun:
    """Plays one case. `finish` waits for what comes late and may overlap with the next case."""

    def __init__(
        self, provider: Provider, driver: Driver, worker: str, case: Case, terms: Terms, pulse: Pulse
    ) -> None:
        self._provider = provider
        self._driver = driver
        self._worker = worker
        case = Case(stretched(case.scenario, driver.declaration.caps), case.variant)
        self._case = case
        self._terms = terms
        self._pulse = pulse
        self._began_at = clock.now()
        self._conversation = f"conversation-{next(_numbers)}"  # which scenario it is, the loop is not to know
        self._url = provider.url
        self._now: tuple[TurnScript, TurnSpec] | None = None
        self._memory = Memory()
        self._watch: Watch | None = None
        self._turn = 0
        self._claims = Claims()
        self._rival: Rival | None = None
        self.left_cold = False
        """The loop's process is gone, and the new one has asked the provider nothing yet: what it imports for
        that would be on the next case's time."""
        self._waiting: asyncio.Task[None] | None = None
        self.history = History(history_path(terms.history_dir, case))
        self._session = Session(
            key=f"sk-ant-{self._conversation}",
            scenario=case.scenario,
            record=self._record,
            # Replies have ids of their own in each case, so that a thread is known by them.
            seed=terms.seed if driver.reach == "turn" else zlib.crc32(f"{terms.seed}/{case.id}".encode()),
            worker=worker,
            at_point=self._at_point,
        )
        self.current = True
        """A request that is known by nothing else is its."""
        if driver.reach == "token":
            self._session.token = token_of(self._conversation)

    async def play(self) -> None:
        """Play every turn; stops early where the loop was lost or overran."""
        self._session.binder.own = own_tool(self._driver.declaration)
        self._session.classifier.ties = frozenset(self._terms.ties)
        self.history.append(self._began())
        handed = self._driver.reach == "turn"
        if handed:
            self._url = await self._provider.address(self._session)
        self._provider.open(self._session, alone=not handed and self._terms.alone, current=self.current)
        if unplayable := self._unplayable():
            self.history.append(Noted(kind="unplayable", detail=unplayable))
            return
        messages: list[dict[str, Any]] = []
        for index, turn in enumerate(self._case.scenario.turns):
            if index:
                await asyncio.sleep(BETWEEN)
            spec = self._turn_spec(turn, messages)
            self._now, self._turn = (turn, spec), index
            self._session.begin_turn(index)
            self.history.append(_turn_began(spec))
            await self._at_point("start")
            before = len(self.history.events)
            self._arm(turn)
            await self._play(spec)
            self._watch = None
            if self._rival:
                await self._rival.stop()
                self._rival = None
            if died := any(isinstance(event, Crashed) for event in self.history.events[before:]):
                await self._go_on(turn, spec)
            self._session.end_turn()
            if self._waiting:
                self._waiting.cancel()
                self._waiting = None
            if any(isinstance(event, (Lost, Overran)) for event in self.history.events[before:]):
                return
            if len(self._case.scenario.turns) >= ROW:
                await asyncio.sleep(SETTLING)
                await self.census()
            messages = left_behind(self.history.events[before:])
            if died and turn.crash and turn.crash.then == "move on":
                messages = spec.messages

    def _hook(self, event: AnyEvent) -> bool | None:
        """Keep an event of the loop's, and say whether it gets what it asks for."""
        granted = self._claims.ask("first") if isinstance(event, Claimed) else None
        if isinstance(event, Claimed):
            event.granted = granted is not False
        self._record(event)
        return granted

    def _record(self, event: AnyEvent) -> None:
        """Keep an event; where it is the one after which the process is to die, kill it before it goes on."""
        self.history.append(event)
        self._memory.take(event)
        if self._watch and self._watch.reached(event):
            self._driver.kill()
            self.history.append(crashed(self._watch.after, self._memory))
            self._watch = None
        failed = isinstance(event, Broken) or (isinstance(event, Answered) and event.kind == "fault")
        if failed and self._now is not None and self._now[0].cancel and self._waiting is None:
            self._waiting = asyncio.get_running_loop().create_task(self._cancel_the_retry())

    def _arm(self, turn: TurnScript) -> None:
        declared = self._driver.declaration
        if turn.crash and isinstance(turn.crash.after, str):
            self._watch = Watch(
                turn.crash.after, lambda key: is_key("checkpoint", key, self._conversation, declared)
            )

    async def _play(self, spec: TurnSpec) -> None:
        before = len(self.history.events)
        await self._driver.play(spec, self._hook)
        self._claims.free("first")
        events = self.history.events[before:]
        if any(isinstance(event, (Crashed, Overran, Lost)) for event in events):
            self.left_cold = True
        elif any(isinstance(event, RequestSeen) for event in events):
            self.left_cold = False

    async def _go_on(self, turn: TurnScript, spec: TurnSpec) -> None:
        """What happens after the process was killed: mostly the same turn is played again."""
        then = turn.crash.then if turn.crash else "rerun"
        self._memory.inherited = then == "move on"
        if then == "move on":
            return
        if then == "cancel":
            self._memory.values[spec.cancel_key] = True
            self.history.append(Cancelled(point="crash", via="flag"))
        again = msgspec.structs.replace(
            spec, store=dict(self._memory.values), deadline=spec.deadline + RESTART
        )
        self._now = turn, again
        self._session.begin_again()
        self.history.append(_turn_began(again, rerun=True))
        await self._play(again)

    def _unplayable(self) -> str:
        """Why the loop cannot be cancelled, or its process killed, where the scenario wants it."""
        if self._session.refuses and self._driver.reach != "turn" and not self._terms.alone:
            return "a service that is asked for several turns at once cannot be refused for one: use --jobs 1"
        for turn in self._case.scenario.turns:
            if turn.cancel and (why := self._driver.cannot_cancel(turn.cancel.via)):
                return why
        needs = "claim" if self._case.scenario.rivals else "checkpoint" if self._case.scenario.crashes else ""
        if needs and needs not in self._terms.exposes:
            return f"the loop does not expose {needs} ({EXPOSABLE[needs]})"
        if needs and not self._driver.killable:
            what = "has no second worker" if needs == "claim" else "cannot be killed"
            return f"a loop that runs in this process {what}; name it as `package.module:attribute`"
        return ""

    async def finish(self) -> None:
        """Wait for what comes after the outcome, then close the history."""
        await asyncio.sleep(self._terms.after)
        await self.forget()
        lateness = max(self._session.lateness, self._pulse.worst_since(self._began_at))
        self.history.append(Finished(lateness=round(lateness, 3)))

    async def forget(self) -> None:
        """Close the session, and drop the conversation where the loop runs."""
        await self._driver.forget(self._conversation)
        self._provider.shut(self._session.key)

    async def census(self) -> None:
        """Record what is alive in the process the loop runs in."""
        if (alive := await self._driver.census()) is not None:
            self.history.append(alive)

    async def _at_point(self, point: str) -> None:
        """Cancel the turn if the scenario says so here; the flag is set when this returns."""
        if self._now is None:
            return
        turn, spec = self._now
        if turn.rival and turn.rival.at == point and self._rival is None:
            await self._begin_the_rival(spec)
        if turn.cancel is None or turn.cancel.at != point:
            return
        via = turn.cancel.via
        cancelled = Cancelled(point=point, via=via if self._driver.reach == "turn" else HANGUP)
        if via in INTERRUPTS:  # the loop may be gone before the driver says that it did it
            self.history.append(cancelled)
            await self._driver.cancel(spec, via)
        else:
            await self._driver.cancel(spec, via)
            self.history.append(cancelled)

    async def _begin_the_rival(self, spec: TurnSpec) -> None:
        # A worker's number nobody has: where a loop does not use the key, the path finds the session.
        worker = f"{self._worker}0000"
        self._rival = Rival(self._driver.another(worker), self._claims, self._record)
        again = msgspec.structs.replace(spec, store=dict(self._memory.values))
        scenario, seed = self._case.scenario, self._terms.seed
        await self._rival.begin(self._provider, scenario, again, self._turn, seed, worker)

    async def _cancel_the_retry(self) -> None:
        await asyncio.sleep(INTO_RETRY)
        await self._at_point("retry")

    def _began(self) -> Began:
        return Began(
            scenario_id=self._case.scenario.id,
            variant=self._case.variant,
            scenario=msgspec.to_builtins(self._case.scenario),
            seed=self._terms.seed,
            loop=self._terms.loop,
            declaration=msgspec.to_builtins(self._driver.declaration),
            exposes=self._terms.exposes,
            startup=self._terms.startup,
            finished=self._terms.finished,
            phrases=self._terms.phrases,
            kind=getattr(self._driver, "kind", "python"),
            watched=self._driver.watched,
            versions=_versions(),
        )

    def _turn_spec(self, turn: TurnScript, messages: list[dict[str, Any]]) -> TurnSpec:
        task = self._case.scenario.task
        cancel = turn.cancel.at if turn.cancel else ""
        inherited = dict(self._memory.values) if self._memory.inherited else None
        prompt = f"{turn.prompt} ({self._session.token})" if self._session.token else turn.prompt
        return TurnSpec(
            base_url=f"{self._url}/{self._worker}",
            api_key=self._session.key,
            model=task.model,
            max_tokens=task.max_tokens,
            system=task.system,
            prompt=prompt,
            messages=[*messages, {"role": "user", "content": prompt}],
            conversation=self._conversation,
            tools=self._case.scenario.tools,
            stream=self._case.variant == "sse",
            limits=widened(turn.limits, self._terms.startup),
            hooks={str(name): text for name, text in self._case.scenario.hooks.items()},
            checkpoint_key=given_key("checkpoint", self._conversation),
            cancel_key=own_key("cancel", self._conversation, self._driver.declaration),
            cancel_on_tool=_rest(cancel, "tool "),
            cancel_after_tool=_rest(cancel, "after tool "),
            cancel_via=turn.cancel.via if turn.cancel else "flag",
            deadline=self._deadline(turn)
            + (RESTART if inherited is not None else 0.0)
            + (PATIENCE + WAITS + LOADS if turn.rival else 0.0),
            store=inherited,
        )

    def _deadline(self, turn: TurnScript) -> float:
        """The scenario's, stretched by what the loop declared it needs and by its start-up."""
        stretch = self._terms.startup
        declared = self._driver.declaration.caps.get("wall_clock")
        if declared and turn.limits.wall_clock:
            stretch += max(0.0, declared - turn.limits.wall_clock)
        return self._case.scenario.deadline + stretch


def _rest(point: str, start: str) -> str | None:
    return point.removeprefix(start) if point.startswith(start) else None


def left_behind(events: list[Any]) -> list[dict[str, Any]]:
    """The conversation a turn left: the outcome's, else the last published; empty where neither tells."""
    kept: list[Any] = [event.history for event in events if isinstance(event, Published)]
    kept += [event.history for event in events if isinstance(event, Ended)]
    for history in reversed(kept):
        if isinstance(history, list) and all(_is_message(message) for message in history):
            return history
    return []


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str) and "content" in value


def _turn_began(spec: TurnSpec, *, rerun: bool = False) -> TurnBegan:
    return TurnBegan(
        prompt=spec.prompt,
        messages=spec.messages,
        model=spec.model,
        max_tokens=spec.max_tokens,
        system=spec.system,
        tools=[tool.name for tool in spec.tools],
        limits={name: value for name, value in msgspec.to_builtins(spec.limits).items() if value is not None},
        conversation=spec.conversation,
        stream=spec.stream,
        store_keys=sorted(spec.store or ()),
        rerun=rerun,
    )


def history_path(folder: Path | None, case: Case) -> Path | None:
    """Where below `folder` the case's history is stored."""
    return folder / f"{case.scenario.id}.{case.variant}.ndjson" if folder else None


@functools.cache
def _versions() -> dict[str, str]:
    """Of what a verdict may depend on."""
    found = {"python": platform.python_version()}
    for name in ("loop-harness", "anthropic"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found
