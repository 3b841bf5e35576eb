"""HIST, first part: what was received and sent stays what it was in every later request."""

from __future__ import annotations

from collections.abc import Iterator

from ..clauses import Level
from ..evidence import FINAL, GOING_ON, Exchange, Run, TurnView
from ..wire.blocks import THINKING
from ..wire.same import Piece, block_diff, brief
from .base import Finding, broken, check, held, request
from .carried import Carried, Loss, alike, carried, may_be_missing

_FIRST_FIELD = {"text": "text", "thinking": "thinking", "redacted_thinking": "data", "tool_use": "id"}


@check("HIST-1")
def assistant_content_goes_back_as_it_came(run: Run) -> Iterator[Finding]:
    """The reply stands in the next request whole, in order and without additions."""
    for turn, found, next_turn in _continued(run):
        loss = _damage(found, next_turn=next_turn)
        if loss is not None:
            yield _not_as_it_came(found, loss)
        elif found.added and not next_turn:
            # Whether the loop or its caller put it there, a recording does not tell.
            yield _made_up(found, found.added[0], "SHOULD" if run.recorded else None)
        elif not found.nothing_of_reply:
            yield held(exchange=found.later, turn=turn)


@check("HIST-2")
def the_history_only_grows(run: Run) -> Iterator[Finding]:
    """What one request said, the next says too; in another turn, which may forget, only unchanged."""
    for turn, found, next_turn in _continued(run, replies_only=False):
        if _may_be_rewritten(found.earlier):
            continue
        if not next_turn:
            yield _grown(found)
        elif turn.status in ("completed", None) and found.earlier.stop_reason in FINAL:
            # Context given for one turn only may rightly be gone, though the cache suffers.
            kept = [loss for loss in found.sent if not loss.changed]
            if len(kept) < len(found.earlier.pieces):
                yield _grown(found, weaker=True)


def _grown(found: Carried, *, weaker: bool = False) -> Finding:
    changed = next((loss for loss in found.sent if loss.changed), None)
    dropped = next(iter(found.sent), None)
    inserted = next((piece for piece in found.added if piece.role != "assistant"), None)
    if changed is not None:
        return _not_as_sent(found, changed, "SHOULD" if weaker else None)
    if dropped is not None and not weaker and not _compacted(found.earlier):
        return _not_as_sent(found, dropped, "SHOULD")
    if inserted is not None:
        return broken(
            expected=f"Nothing new between what {request(found.earlier)} said.",
            happened=f"{request(found.later).capitalize()} has something new before what was said last, at "
            f"{inserted.path}: {brief(inserted.block)}",
            exchange=found.later,
            block=inserted.index,
            level="SHOULD",
        )
    return held(exchange=found.later)


@check("HIST-4")
def thinking_stays_in_place(run: Run) -> Iterator[Finding]:
    """Within a tool turn every thinking block goes back untouched, where it stood."""
    for _, found, next_turn in _continued(run):
        thought = [piece for piece in found.earlier.reply_pieces if piece.type in THINKING]
        if next_turn or not thought or found.earlier.stop_reason not in ("tool_use", "pause_turn"):
            continue
        # Of two blocks that changed places either may be the one that moved.
        loss = next((one for one in found.losses if one.piece.type in THINKING or one.moved), None)
        if loss is None:
            yield held(exchange=found.later)
        else:
            yield broken(
                expected=f"{_with_thinking(found, loss)}, untouched and in its place.",
                happened=_became(found, loss),
                exchange=found.later,
                block=loss.instead.index if loss.instead else None,
                diff=block_diff(loss.piece, loss.instead),
            )


@check("HIST-5")
def content_is_never_flattened(run: Run) -> Iterator[Finding]:
    """Blocks stay blocks: only a reply of one plain text block equals a string."""
    for _, found, next_turn in _continued(run):
        if len(found.earlier.reply_pieces) == 1 and _is_plain_text(found.earlier.reply_pieces[0]):
            continue
        lost = [
            loss
            for loss in found.received
            if loss.instead or not may_be_missing(found.earlier, loss.piece, next_turn=next_turn)
        ]
        flat = _flattened(found, lost)
        if flat is not None:
            yield broken(
                expected=f"The {len(found.earlier.reply_pieces)} blocks of the reply to "
                f"{request(found.earlier)}: {_types(found.earlier)}.",
                happened=f"{request(found.later).capitalize()} has text in their place at {flat.path}: "
                f"{brief(flat.block.get('text', ''))}",
                exchange=found.later,
                block=flat.index,
            )
        elif not lost and not found.nothing_of_reply:
            yield held(exchange=found.later)


def _continued(run: Run, *, replies_only: bool = True) -> Iterator[tuple[TurnView, Carried, bool]]:
    """Each round with the one after it, whether that is another turn's. A turn stops at its first damage."""
    for turn in run.turns:
        for earlier in turn.rounds:
            later, next_turn = _next(turn, earlier)
            if later is None or (replies_only and (earlier.stop_reason is None or not earlier.reply_pieces)):
                continue
            prompt = turn.following.prompt if next_turn and turn.following else ""
            found = carried(earlier, later, prompt)
            yield turn, found, next_turn
            if found.losses and not (found.nothing_of_reply and not found.sent):
                # What follows carries the same damage on.
                break


def _next(turn: TurnView, earlier: Exchange) -> tuple[Exchange | None, bool]:
    if earlier.next is not None:
        return earlier.next, False
    following = turn.following
    return (following.rounds[0] if following and following.rounds else None), True


def _damage(found: Carried, *, next_turn: bool) -> Loss | None:
    """The first block of the reply that is not as it came, although it should be."""
    for loss in found.received:
        if loss.moved:
            return loss
        excused = may_be_missing(found.earlier, loss.piece, next_turn=next_turn)
        if not excused and not (found.nothing_of_reply and _may_be_left_out(found.earlier, next_turn)):
            return loss
        if loss.instead is not None and _is_form_of(loss.piece, loss.instead):
            return loss
    return None


def _may_be_left_out(earlier: Exchange, next_turn: bool) -> bool:
    """Whether the reply may be missing as a whole; END, TOOL and PAUSE judge what it costs."""
    return next_turn or earlier.stop_reason not in GOING_ON


def _is_form_of(piece: Piece, instead: Piece) -> bool:
    if piece.type != instead.type:
        return False
    name = _FIRST_FIELD.get(piece.type)
    return name is None or alike(str(piece.block.get(name, "")), str(instead.block.get(name, "")))


def _may_be_rewritten(earlier: Exchange) -> bool:
    """Whether what was sent has to change before it can be sent again."""
    refused = earlier.kind == "rejected" or (earlier.kind == "fault" and not earlier.invites_retry)
    return refused or earlier.stop_reason == "model_context_window_exceeded"


def _compacted(earlier: Exchange) -> bool:
    """Whether a summary stands for what was there before."""
    return any(piece.type == "compaction" for piece in (*earlier.pieces, *earlier.reply_pieces))


def _is_plain_text(piece: Piece) -> bool:
    return piece.type == "text" and not piece.block.get("citations")


def _flattened(found: Carried, lost: list[Loss]) -> Piece | None:
    """The text that stands for the lost blocks."""
    if not lost:
        return None
    marks = [str(piece.block.get("text", "")).strip() for piece in found.earlier.reply_pieces]
    marks += [str(piece.block.get("id", "")) for piece in found.earlier.reply_pieces]
    marks = [mark for mark in marks if mark]
    sent = {piece.key for piece in found.earlier.pieces}
    for piece in found.later.pieces:
        said = piece.type == "text" and piece.role == "assistant" and piece.key not in sent
        text = piece.block.get("text") if said else None
        if isinstance(text, str) and any(mark in text for mark in marks):
            return piece if _is_string(found.later, piece) or _holds_more(found, text) else None
    return None


def _is_string(later: Exchange, piece: Piece) -> bool:
    message = later.transcript[piece.message]
    return isinstance(message, dict) and isinstance(message.get("content"), str)


def _holds_more(found: Carried, text: str) -> bool:
    """Whether a text block is none of the reply's, but made of several or of another kind."""
    return all(piece.block.get("text") != text for piece in found.earlier.reply_pieces)


def _types(earlier: Exchange) -> str:
    return ", ".join(f"`{piece.type}`" for piece in earlier.reply_pieces)


def _not_as_it_came(found: Carried, loss: Loss) -> Finding:
    return broken(
        expected=f"Block {loss.piece.index} of the reply to {request(found.earlier)} as it came: "
        f"{brief(loss.piece.block)}",
        happened=_became(found, loss),
        exchange=found.later,
        block=loss.instead.index if loss.instead else None,
        diff=block_diff(loss.piece, loss.instead),
    )


def _made_up(found: Carried, piece: Piece, level: Level | None) -> Finding:
    return broken(
        expected=f"Nothing from the assistant but what the reply to {request(found.earlier)} held.",
        happened=f"{request(found.later).capitalize()} has what no reply held at {piece.path}: "
        f"{brief(piece.block)}",
        exchange=found.later,
        block=piece.index,
        level=level,
    )


def _not_as_sent(found: Carried, loss: Loss, level: Level | None) -> Finding:
    return broken(
        expected=f"What {request(found.earlier)} said at {loss.piece.path}: {brief(loss.piece.block)}",
        happened=_became(found, loss),
        exchange=found.later,
        block=loss.instead.index if loss.instead else None,
        diff=block_diff(loss.piece, loss.instead),
        level=level,
    )


def _with_thinking(found: Carried, loss: Loss) -> str:
    whose = f"came in the reply to {request(found.earlier)}" if loss.received else "was sent before"
    beside = "" if loss.piece.type in THINKING else ", beside thinking"
    return f"The `{loss.piece.type}` block that {whose}{beside}"


def _became(found: Carried, loss: Loss) -> str:
    later = request(found.later).capitalize()
    if loss.moved:
        return f"{later} has {_what(loss)} in another place."
    if loss.instead is None:
        return f"{later} does not have {_what(loss)}."
    return f"{later} has in place of {_what(loss)}, at {loss.instead.path}: {brief(loss.instead.block)}"


def _what(loss: Loss) -> str:
    """The lost piece in a few words: where it came from, and where it stood there."""
    kind = f"the `{loss.piece.type}`" if loss.piece.type else "the block"
    return f"{kind} block of the reply" if loss.received else f"{kind} block of {loss.piece.path}"
