"""How a check is written, and how it speaks.

A check is a generator function over a `Run`, registered for one clause::

    @check("PAUSE-1")
    def a_paused_reply_is_resumed(run: Run) -> Iterator[Finding]:
        for turn, paused in run.stopped("pause_turn"):
            if paused.next:
                yield held(exchange=paused)
            elif excuse := cut_short(turn, paused):
                yield unclear(excuse, exchange=paused)
            else:
                yield broken(expected="…", happened="…", exchange=paused)

It yields one finding for each place where the clause applied: `held`, `broken`, `unclear` (it applied, but
cannot be decided) or `note` (worth knowing, never counts). Yielding nothing says that the clause never
applied. It reads nothing but the run, changes nothing, and is only called when the loop exposes what the
clause `needs`. `level="SHOULD"` marks a part of a clause that is weaker than the clause.

`expected` and `happened` are whole sentences for the loop's author; name requests with `request(exchange)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias, TypeVar

import msgspec

from ..clauses import Level
from ..evidence import Exchange, Run, TurnView
from ..wire.same import Difference, Piece, brief, content_pieces, difference

Evidence: TypeAlias = Literal["wire", "outcome", "hook"]
"""What a finding rests on: requests seen, what the loop returned, or what its hooks were told."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found at one place."""

    kind: Literal["held", "broken", "unclear", "note"]
    evidence: Evidence = "wire"
    expected: str = ""
    happened: str = ""
    """For `unclear` and `note`: the reason, or what is worth knowing."""
    turn: int = 0
    """Index of the turn, from 0."""
    request: int | None = None
    block: int | None = None
    """Index of the block within its message."""
    diff: str = ""
    level: Level | None = None
    """None: the clause's own."""
    advice: str = ""
    """Replaces the clause's where this place has a better one."""


Check: TypeAlias = Callable[[Run], Iterator[Finding]]
AnyCheck = TypeVar("AnyCheck", bound=Check)
CHECKS: dict[str, Check] = {}
"""Filled by `check`; read it through `harness.checks.registered`, which imports every family first."""


def check(clause: str) -> Callable[[AnyCheck], AnyCheck]:
    """Register a check for `clause`. A clause has one check."""

    def register(function: AnyCheck) -> AnyCheck:
        if clause in CHECKS:
            raise ValueError(f"{clause} has a check already: {CHECKS[clause].__qualname__}")
        CHECKS[clause] = function
        return function

    return register


def held(
    evidence: Evidence = "wire", *, turn: TurnView | None = None, exchange: Exchange | None = None
) -> Finding:
    """The clause applied here and was kept."""
    return Finding(kind="held", evidence=evidence, turn=_turn(turn, exchange), request=_request(exchange))


def broken(  # noqa: PLR0913 - a form to fill in, by name
    *,
    expected: str,
    happened: str,
    evidence: Evidence = "wire",
    turn: TurnView | None = None,
    exchange: Exchange | None = None,
    block: int | None = None,
    diff: str | Difference = "",
    level: Level | None = None,
    advice: str = "",
) -> Finding:
    """The clause was broken here. A `Difference` as `diff` also says which block it was."""
    if isinstance(diff, Difference):
        block = diff.block if block is None else block
        diff = diff.text
    return Finding(
        kind="broken",
        evidence=evidence,
        expected=expected,
        happened=happened,
        turn=_turn(turn, exchange),
        request=_request(exchange),
        block=block,
        diff=diff,
        level=level,
        advice=advice,
    )


def unclear(
    why: str,
    *,
    evidence: Evidence = "wire",
    turn: TurnView | None = None,
    exchange: Exchange | None = None,
) -> Finding:
    """The clause applied here, but the run cannot tell whether it was kept."""
    return Finding(
        kind="unclear",
        evidence=evidence,
        happened=why,
        turn=_turn(turn, exchange),
        request=_request(exchange),
    )


def note(text: str, *, turn: TurnView | None = None, exchange: Exchange | None = None) -> Finding:
    """Worth knowing; it never counts."""
    return Finding(kind="note", happened=text, turn=_turn(turn, exchange), request=_request(exchange))


def request(exchange: Exchange) -> str:
    """How a message names a request."""
    return f"request {exchange.number}"


def named(exchange: Exchange) -> str:
    """How a sentence begins that is about a request."""
    return f"Request {exchange.number}"


def count(number: int, thing: str, many: str = "") -> str:
    """`1 request`, `2 requests`."""
    return f"{number} {thing if number == 1 else many or f'{thing}s'}"


def happened_at(exchange: Exchange, found: Difference) -> str:
    """What a request has at the place where it differs."""
    what = f"has {brief(found.actual.block)}" if found.actual else "has nothing more"
    return f"{named(exchange)} {what} ({found.path})."


def cut_short(turn: TurnView, exchange: Exchange) -> str | None:
    """Why nothing need follow this round although its reply asks for it; None where nothing excuses it.

    An exception of the loop's own is no excuse: it is a way of not going on.
    """
    if not exchange.whole:
        return f"the answer to {request(exchange)} did not reach the loop whole"
    if why := ended_as_asked(turn, exchange):
        return why
    if turn.ended is None:
        return _no_outcome(turn, exchange)
    if turn.error_mark is not False and _refused_next(turn, exchange):
        return "the provider took no connection then, so a request may have been tried in vain"
    if turn.status == "capped" and not _limited(turn):
        return "the loop says that a cap of its own ended the turn, and declares none (`caps:`)"
    return None


def _no_outcome(turn: TurnView, exchange: Exchange) -> str:
    if turn.run.recorded:
        return f"nothing of the conversation was recorded after {request(exchange)}"
    return "the turn was stopped from outside before anything could follow"


def ended_as_asked(turn: TurnView, exchange: Exchange) -> str | None:
    """Why the turn was to end after this round: it was cancelled, or a limit that is known was reached."""
    if turn.cancels:
        return "the turn was cancelled"
    given, declared = turn.began.limits, turn.run.declaration.caps
    iterations = _lowest(given.get("max_iterations"), declared.get("iterations"))
    if iterations is not None and turn.rounds.index(exchange) + 1 >= iterations:
        return f"the turn had made the {iterations:.0f} requests it may make"
    pauses = _lowest(given.get("pauses"), declared.get("pauses"))
    if pauses is not None and exchange.stop_reason == "pause_turn" and resumes_before(exchange) >= pauses:
        return f"the turn had resumed {pauses:.0f} pauses in a row, as many as it may"
    seconds = _lowest(given.get("wall_clock"), declared.get("wall_clock"))
    elapsed = (turn.ended_at or 0.0) - turn.began.at
    # A loop may rightly not start what it cannot finish, so the budget need not be gone.
    if seconds is not None and elapsed >= seconds / 2:
        return f"the turn had used {elapsed:.2f} s of its {seconds:g} s"
    return None


def _refused_next(turn: TurnView, exchange: Exchange) -> bool:
    """Whether the script refuses the connection after this answer: what is tried then leaves no trace."""
    step = exchange.answer.step if exchange.answer else None
    if turn.script is None or step is None or step + 1 >= len(turn.script.script):
        return False
    fault = turn.script.script[step + 1].fault
    return fault is not None and fault.connection == "refuse"


def _limited(turn: TurnView) -> bool:
    return bool(turn.began.limits or turn.run.declaration.caps)


def resumes_before(exchange: Exchange) -> int:
    """How many pauses in a row were resumed to get to this round."""
    count = 0
    earlier = exchange.previous
    while earlier is not None and earlier.stop_reason == "pause_turn":
        count, earlier = count + 1, earlier.previous
    return count


def continuations(exchange: Exchange) -> list[list[Piece]]:
    """The ways in which a later conversation may begin that keeps this request and its reply.

    Mostly one. After a second pause there may be two: the newer content after the older, or in its place
    where it repeats it. A reply that the request began may go back in one piece with its beginning.
    """
    kept = [exchange.pieces + exchange.reply_pieces]
    if begun := _with_its_beginning(exchange):
        kept.append(begun)
    without = _without_older_pause(exchange)
    if without is not None and exchange.previous is not None:
        older = [piece.key for piece in exchange.previous.reply_pieces]
        if older == [piece.key for piece in exchange.reply_pieces[: len(older)]]:
            kept.append(without)
    return kept


def _with_its_beginning(exchange: Exchange) -> list[Piece]:
    """A request and its reply, the text of which the request began; empty where it began none."""
    if not exchange.pieces or not exchange.reply_pieces:
        return []
    begun, rest = exchange.pieces[-1], exchange.reply_pieces[0]
    resumed = exchange.previous is not None and exchange.previous.stop_reason == "pause_turn"
    if begun.role != "assistant" or resumed or {begun.type, rest.type} != {"text"}:
        return []
    text = f"{begun.block.get('text', '')}{rest.block.get('text', '')}"
    whole = content_pieces("assistant", [{**rest.block, "text": text}])
    return [*exchange.pieces[:-1], *whole, *exchange.reply_pieces[1:]]


def _without_older_pause(exchange: Exchange) -> list[Piece] | None:
    """A request and its reply without the paused content that it resumes; None where it resumes none."""
    paused = exchange.previous
    if paused is None or paused.stop_reason != "pause_turn" or not paused.reply_pieces:
        return None
    count = len(paused.reply_pieces)
    end = [piece.key for piece in exchange.pieces[-count:]]
    resumes = end == [piece.key for piece in paused.reply_pieces]
    return exchange.pieces[:-count] + exchange.reply_pieces if resumes else None


def newest_only(exchange: Exchange, later: Exchange) -> bool:
    """Whether `later` resumes a pause with its content alone, in place of that of the pause before."""
    without = _without_older_pause(exchange)
    return without is not None and difference(without, later.pieces, prefix=False) is None


def departure(exchange: Exchange, later: Exchange, *, prefix: bool = True) -> Difference | None:
    """Where `later` departs from what keeps `exchange` and its reply; None where it keeps them.

    Of several right forms the one is taken to which `later` comes closest. Without `prefix`, nothing may
    follow what is kept.
    """
    found = [difference(kept, later.pieces, prefix=prefix) for kept in continuations(exchange)]
    if any(one is None for one in found):
        return None
    return max((one for one in found if one), key=lambda one: one.position)


def _lowest(*limits: float | None) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _turn(turn: TurnView | None, exchange: Exchange | None) -> int:
    if turn is not None:
        return turn.index
    return exchange.seen.turn if exchange is not None else 0


def _request(exchange: Exchange | None) -> int | None:
    return exchange.number if exchange is not None else None
