"""How a turn can end: its status, what the user reads, and what the owner of the loop is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...turn import Status


@dataclass(frozen=True)
class End:
    """One way to end. `note` is shown to the user, `problem` is reported to the owner."""

    status: Status
    detail: str | None = None
    note: str = ""
    is_error: bool = False
    problem: str | BaseException | None = None


def completed() -> End:
    """The model said all it wanted to say."""
    return End("completed")


def refused(details: dict[str, Any] | None) -> End:
    """The model declined. That is no fault of anyone, so nothing is reported."""
    explanation = (details or {}).get("explanation") or ""
    category = (details or {}).get("category")
    note = f"The model declined to answer this request. {explanation}".strip()
    return End("refused", detail=f"refusal: {category}" if category else "refusal", note=note)


def truncated(reason: str) -> End:
    """The reply was cut short by a limit of the model."""
    cause = "its token limit" if reason == "max_tokens" else "the end of its context window"
    return End(
        "truncated",
        detail=reason,
        note=f"The answer is incomplete: the model reached {cause}.",
        is_error=True,
        problem=f"the reply was cut short ({reason})",
    )


def capped(limit: str, done: int) -> End:
    """A limit of this loop was reached after `done` answered requests."""
    text = f"{limit} reached after {done} model requests"
    return End("capped", detail=text, note=f"Stopped: {text}.", is_error=True, problem=text)


def cancelled() -> End:
    """The user cancelled."""
    return End("cancelled", detail="cancelled by the user")


def failed(detail: str, problem: str | BaseException | None = None) -> End:
    """Something broke, here or at the provider."""
    return End(
        "failed",
        detail=detail,
        note=f"The answer could not be completed: {detail}",
        is_error=True,
        problem=problem if problem is not None else detail,
    )
