"""The short fixed runs at the start that find out what a loop exposes, and whether it can be driven at all.

What is used once here is a hook the loop has: leaving it out later is a fault. What is not seen here is
`unsupported`, said once, with how to expose it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from .beside import Play, first_run, notes_of
from .case import Case
from .history import (
    Answered,
    AnyEvent,
    Cancelled,
    CancelPolled,
    Claimed,
    Ended,
    Lost,
    Noted,
    Overran,
    Published,
    Reported,
    RequestSeen,
    StoreDeleted,
    StoreSet,
    TurnBegan,
    UsageRecorded,
)
from .keys import is_key
from .loops.driver import Driver
from .own_tools import bind
from .probe_scripts import (
    CANCEL,
    CLOCK,
    CUT,
    PAUSES,
    RESUMED,
    RESUMED_CANCEL,
    RESUMED_CLOCK,
    TEXT,
    TOOLS,
    interrupted_by,
)
from .turn import EXPOSABLE, INTERRUPTS, Declaration


class Probe(msgspec.Struct, kw_only=True):
    """What the probe found."""

    exposes: list[str] = []
    """Names of `harness.turn.EXPOSABLE`."""
    variants: tuple[str, ...] = ("json", "sse")
    """The variants that differ for this loop."""
    startup: float = 0.0
    """Seconds from the call of the warm loop to its first request."""
    problem: str | None = None
    """Why the loop cannot be driven."""
    finished: list[list[tuple[str, str]]] = []
    """What finished answers look like to the loop's client."""
    phrases: list[str] = []
    """Words of the loop's own in finished answers."""
    ties: list[str] = []
    """By what the conversation is told from what the loop asks beside it; nothing where it asks nothing."""
    notes: list[str] = []
    """What the owner should know, each said once."""


async def explore(play: Play, driver: Driver, url: str) -> Probe:
    """Run the probe's scripts, in order. `driver` is the one that plays them, `url` the provider's."""
    first, play, ties = await first_run(play)
    problem = cannot_be_driven(first, driver, url)
    if problem:
        return Probe(problem=problem)
    second = await play(Case(TEXT, "sse"))
    tools = await play(Case(TOOLS, "json"))
    offers = "tools" in hooks_used(tools, driver.declaration)
    counted = tools if offers else await play(Case(RESUMED, "json"))
    paused = await play(Case(PAUSES, "json"))
    clocked = await play(Case(CLOCK if offers else RESUMED_CLOCK, "json"))
    cancelled = await play(Case(CANCEL if offers else RESUMED_CANCEL, "json"))
    cut = await play(Case(CUT, "json"))
    interrupted = {
        via: await play(Case(interrupted_by(via, offers=offers), "json"))
        for via in INTERRUPTS
        if not driver.cannot_cancel(via)
    }

    exposes = set(driver.declaration.exposes) | set(driver.declaration.caps) & set(EXPOSABLE)
    for run in (first, second, tools, counted, paused, clocked, cancelled, cut):
        exposes |= set(hooks_used(run, driver.declaration))
    if stopped_after(counted, 2, 3):
        exposes.add("iterations")
    if stopped_after(paused, 2, 3):
        exposes.add("pauses")
    # A loop that stops at its first tool call or pause by itself tells nothing by stopping there again.
    if replies(counted) > 1 and (stopped_after(clocked, 1, 3) or _capped(clocked)):
        exposes.add("wall_clock")
    if replies(counted) > 1 and stopped_after(cancelled, 1, 2):
        exposes.add("cancel")
    exposes |= {via for via, run in interrupted.items() if _landed(run)}
    both = variants(first, second)
    return Probe(
        exposes=sorted(exposes),
        variants=both,
        startup=round(startup(second), 3),
        ties=ties,
        notes=[*notes(both), *notes_of(ties)],
    )


def cannot_be_driven(  # noqa: PLR0911 - one for each thing that may be wrong
    events: Sequence[AnyEvent], driver: Driver, url: str
) -> str | None:
    """What is wrong with the first run, in words for the owner; None where nothing is."""
    name = driver.name
    asked = any(isinstance(event, RequestSeen) for event in events)
    for event in events:
        if isinstance(event, Lost):
            return f"{name}: {event.reason}" + (f"\n{event.output.rstrip()}" if event.output else "")
        if isinstance(event, Noted) and event.kind == "open":
            return f"{name}: {event.detail}"
        if isinstance(event, Overran):
            did = (
                "asked the provider and had its answer, but did not return"
                if asked
                else ("neither asked the provider nor returned")
            )
            where = f"; it stood at {event.stood}" if event.stood else ""
            return f"{name}: called with a turn, it {did} within {event.deadline:.0f} s{where}"
        if isinstance(event, Ended) and not asked:
            if event.raised:
                return (
                    f"{name}: raised {event.raised.type} before it asked the provider: {event.raised.message}"
                    f"\n{event.raised.traceback.rstrip()}"
                )
            if driver.reach != "turn":
                return never_asked(name, url)
            return (
                f"{name}: returned without asking the provider; point its client at turn.base_url "
                f"(here {url}/…) and give it turn.api_key"
            )
    refused = [event for event in events if isinstance(event, Answered) and event.kind == "rejected"]
    answered = [event for event in events if isinstance(event, Answered) and event.kind == "reply"]
    if refused and not answered:
        body = refused[0].body or {}
        return f"{name}: the API rejects its first request: {body.get('error', {}).get('message', body)}"
    return None


def never_asked(name: str, url: str) -> str:
    """What is told of a service that answered on its own."""
    return (
        f"{name}: answered without asking the provider. It has to find it at {url}/w0 as long as it lives: "
        f"start it with ANTHROPIC_BASE_URL={url}/w0 and any ANTHROPIC_API_KEY, or let --start do it"
    )


def hooks_used(events: Sequence[AnyEvent], declaration: Declaration) -> list[str]:
    """Names of what the loop was seen to use."""
    used: list[str] = []
    offered: set[str] = set()
    conversation = ""
    for event in events:
        match event:
            case TurnBegan():
                conversation = event.conversation
                offered = set(event.tools)
            case Published():
                used += ["publish"] + (["done"] if event.done else [])
                used += ["history"] if event.history is not None else []
            case Reported():
                used.append("report")
            case UsageRecorded():
                used.append("usage")
            case CancelPolled():
                used.append("cancel")
            case Claimed():
                used.append("claim")
            case StoreSet() if is_key("checkpoint", event.key, conversation, declaration):
                used.append("checkpoint")
            case RequestSeen() if _offers(event.body, offered):
                used.append("tools")
            case Ended():
                told = {
                    "status": event.status,
                    "shown": event.shown,
                    "history": event.history,
                    "usage": event.usage,
                }
                used += [name for name, value in told.items() if value is not None]
                used += ["arguments"] if event.changed is not None else []
            case _:
                pass
    return used


def _offers(body: object, wanted: set[str]) -> bool:
    """Whether a request offers a tool of the turn, perhaps under a name that the loop made of it."""
    tools = body.get("tools") if isinstance(body, dict) else None
    names = [str(tool.get("name", "")) for tool in tools or () if isinstance(tool, dict)]
    return any(bind(name, names) in names for name in wanted)


def replies(events: Sequence[AnyEvent]) -> int:
    """How many replies of the script were given."""
    return sum(isinstance(event, Answered) and event.kind == "reply" for event in events)


def stopped_after(events: Sequence[AnyEvent], least: int, most: int) -> bool:
    """The loop ended by itself, before the end of the script, after this many replies."""
    ended = any(isinstance(event, Ended) for event in events)
    refused = any(isinstance(event, Answered) and event.kind in ("over", "rejected") for event in events)
    return ended and not refused and least <= replies(events) <= most


def _capped(events: Sequence[AnyEvent]) -> bool:
    """The loop says that it stopped at a limit, be it before the first reply: a machine may be slow."""
    refused = any(isinstance(event, Answered) and event.kind in ("over", "rejected") for event in events)
    return not refused and any(isinstance(event, Ended) and event.status == "capped" for event in events)


def _landed(events: Sequence[AnyEvent]) -> bool:
    """The loop came to an end of its own after it was interrupted: it said so, or at least cleaned up."""
    ended = next((event for event in events if isinstance(event, Ended)), None)
    if ended is None or not any(isinstance(event, Cancelled) for event in events):
        return False
    return ended.raised is None or any(
        isinstance(event, UsageRecorded)
        or (isinstance(event, StoreDeleted) and event.by == "loop")
        or (isinstance(event, Published) and event.done)
        for event in events
    )


def startup(events: Sequence[AnyEvent]) -> float:
    """Seconds until the first request."""
    began = next((event.at for event in events if isinstance(event, TurnBegan)), 0.0)
    return next((event.at - began for event in events if isinstance(event, RequestSeen)), 0.0)


def variants(plain: Sequence[AnyEvent], streamed: Sequence[AnyEvent]) -> tuple[str, ...]:
    """The variants that differ, after a run of each."""
    kinds = [_streams(events) for events in (plain, streamed)]
    if kinds == [True, True]:
        return ("sse",)
    if kinds == [False, False]:
        return ("json",)
    return ("json", "sse")


def _streams(events: Sequence[AnyEvent]) -> bool | None:
    bodies = [event.body for event in events if isinstance(event, RequestSeen) and not event.lane]
    return bool(bodies[0].get("stream")) if bodies and isinstance(bodies[0], dict) else None


def notes(variants: tuple[str, ...]) -> list[str]:
    """What the owner should know of the variants."""
    if len(variants) == 1:
        always = "always" if variants == ("sse",) else "never"
        return [f"the loop {always} streams: each scenario is run once, as [{variants[0]}]"]
    return []
