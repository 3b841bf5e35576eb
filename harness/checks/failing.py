"""What failed, and what the loop asked next: the ground of FAULT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..evidence import Exchange, Run, TurnView
from ..wire.same import Json, Piece, equal

PASSING = (408, 409, 429)
"""Statuses below 500 that may pass by themselves."""


def requests(turn: TurnView) -> list[Exchange]:
    """Every conversation request of the turn in the order of arrival, each attempt on its own."""
    return [one for one in turn.exchanges if one.kind != "side"]


def after(turn: TurnView, exchange: Exchange) -> list[Exchange]:
    """The conversation requests of the same turn that were made once this one had its answer."""
    answered = exchange.answer.at if exchange.answer else exchange.seen.at
    return [one for one in requests(turn) if one.number > exchange.number and one.seen.at >= answered]


def failures(run: Run) -> Iterator[tuple[TurnView, Exchange]]:
    """Every attempt that brought an error or no whole reply, but for those the loop itself broke off."""
    for turn in run.turns:
        for one in requests(turn):
            if failed(one):
                yield turn, one


def failed(exchange: Exchange) -> bool:
    """Whether the provider answered with an error, with nothing, or not to the end."""
    if exchange.broken is not None:
        cut = exchange.broken.by == "provider" and exchange.broken.how != "garbage"
        return cut and (exchange.lost or not exchange.answer or not exchange.answer.stream)
    return exchange.kind in ("fault", "rejected")


def lost_streams(run: Run) -> Iterator[tuple[TurnView, Exchange]]:
    """The streams that broke off before all of their message was sent."""
    for turn in run.turns:
        for one in requests(turn):
            if one.lost:
                yield turn, one


def permanent(exchange: Exchange) -> bool:
    """Whether the same request can only be refused again."""
    status = exchange.answer.status if exchange.answer else 0
    return exchange.kind in ("fault", "rejected") and 400 <= status < 500 and not exchange.invites_retry


def message(exchange: Exchange) -> str:
    """What the provider said was wrong; empty where it said nothing."""
    body = exchange.answer.body if exchange.answer else None
    error = body.get("error") if isinstance(body, dict) else None
    return str(error.get("message", "")) if isinstance(error, dict) else ""


def unchanged(one: Exchange, other: Exchange) -> bool:
    """Whether the second request says to the API what the first one said."""
    betas = [each.seen.headers.get("anthropic-beta") for each in (one, other)]
    return betas[0] == betas[1] and equal(_sent(one), _sent(other))


def _sent(exchange: Exchange) -> Json:
    return {name: value for name, value in exchange.body.items() if name != "metadata"}


def same_conversation(one: Exchange, other: Exchange) -> bool:
    """Whether two requests hold the same conversation."""
    return [piece.key for piece in one.pieces] == [piece.key for piece in other.pieces]


def added(earlier: Exchange, later: Exchange) -> list[Piece]:
    """What `later` says that `earlier` did not; a piece said twice is said once more."""
    known = Counter(piece.key for piece in earlier.pieces)
    found = []
    for piece in later.pieces:
        if known[piece.key]:
            known[piece.key] -= 1
        else:
            found.append(piece)
    return found


def partial_of(lost: Exchange, piece: Piece) -> bool:
    """Whether a piece of a later request can only come from the part of the reply that arrived."""
    if piece.role != "assistant":
        return False
    for block in lost.content:
        if block.get("type") != piece.type:
            continue
        if piece.type == "tool_use":
            if piece.block.get("id") == block.get("id"):
                return True
        elif piece.type in ("text", "thinking"):
            had = str(piece.block.get(piece.type, "")).strip()
            if had and str(block.get(piece.type, "")).strip().startswith(had):
                return True
    return False
