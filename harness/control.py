"""The requests by which a wrapper moves attached cases on: open one, the next turn, the verdict."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from .attached import KNOWN_BY, PROBE, Attached, RefusedError
from .loops.protocol import MalformedError, TurnLine, decoded
from .probe import Probe
from .runner import CaseResult
from .wire.codec import dumps

PREFIX = "/control"
ROUTES = {
    "GET /control/cases": "all there are",
    "POST /control/sessions": '{"case": "text/one[json]"} begins one: its id and first turn',
    "POST /control/sessions/ID/next": '{"outcome": …} ends the turn: the next, or null',
    "POST /control/sessions/ID/verdict": "what it came to, and the end of it",
}
DECLARATION = '{"policies": {"on_max_tokens": "continue"}}'
Answer = tuple[int, dict[str, str], bytes]


class Control:
    """Answers the requests of wrappers. `text` makes of a result what a person reads."""

    def __init__(self, attached: Attached, text: Callable[[CaseResult], str]) -> None:
        self._attached = attached
        self._text = text

    async def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:  # noqa: ARG002 - a handler's
        """Answer one request; `path` is what follows `/control`."""
        try:
            return await self._answer(method, urlsplit(path).path.rstrip("/"), body)
        except RefusedError as refused:
            return _json({"error": str(refused)}, refused.status)
        except MalformedError as malformed:
            return _json({"error": str(malformed)}, 400)

    async def _answer(self, method: str, path: str, body: bytes) -> Answer:
        told = decoded(body) if body.strip() else {}
        if not isinstance(told, dict):
            raise RefusedError(400, "the body is an object, or nothing")
        match method, [unquote(part) for part in path.split("/")[1:]]:
            case "GET", ["cases"]:
                return _json({"cases": self._cases()})
            case "POST", ["sessions"]:
                return _json(await self._open(told), 201)
            case "POST", ["sessions", session, "next"]:
                outcome = (told["outcome"],) if "outcome" in told else ()
                return _json({"turn": _turn(await self._attached.next(session, *outcome))})
            case "POST", ["sessions", session, "verdict"]:
                return _json(self._verdict(await self._attached.verdict(session)))
        there = "; ".join(f"{route}: {what}" for route, what in ROUTES.items())
        raise RefusedError(404, f"there is nothing at {method} {PREFIX}{path}. There is {there}")

    def _cases(self) -> list[dict[str, Any]]:
        return [
            {"case": case.id, "title": case.scenario.title, "clauses": case.scenario.clauses}
            for case in self._attached.cases.values()
        ]

    async def _open(self, told: dict[str, Any]) -> dict[str, Any]:
        known = ("case", "known_by", "by_hand", "declaration")
        if unknown := [name for name in told if name not in known]:
            raise RefusedError(400, f"there is no field {unknown[0]!r}{_near(unknown[0], known)}")
        name, known_by = told.get("case"), told.get("known_by", "key")
        declared = told.get("declaration")
        if not isinstance(known_by, str) or known_by not in KNOWN_BY:
            raise RefusedError(400, f"known_by: one of {', '.join(KNOWN_BY)}, not {known_by!r}")
        name = self._case(str(name))
        if declared is not None and not isinstance(declared, dict):
            raise RefusedError(400, f"declaration: an object such as {DECLARATION}")
        by_hand = bool(told.get("by_hand"))
        session, turn = await self._attached.open(name, known_by, by_hand=by_hand, declared=declared)
        return {"session": session, "case": name, "turn": _turn(turn)}

    def _case(self, written: str) -> str:
        """The id of the case that is meant: without a variant, the first of its scenario's."""
        cases = self._attached.cases
        if written in cases or written == PROBE:
            return written
        variants = (case for case in cases if case.partition("[")[0] == written)
        if (first := next(variants, None)) is not None:
            return first
        near = _near(written, cases)
        raise RefusedError(404, f"there is no case {written!r}{near}; GET {PREFIX}/cases has all")

    def _verdict(self, found: CaseResult | Probe) -> dict[str, Any]:
        if isinstance(found, Probe):
            return {
                "exposes": found.exposes,
                "variants": list(found.variants),
                "problem": found.problem,
                "notes": found.notes,
            }
        return {
            "case": found.id,
            "grade": found.grade,
            "reason": found.reason,
            "checks": msgspec.to_builtins(found.checks),
            "text": self._text(found),
            "history": found.history,
        }


def _turn(turn: TurnLine | None) -> Any:
    return None if turn is None else msgspec.to_builtins(turn)


def _near(name: object, known: Any) -> str:
    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _json(value: Any, status: int = 200) -> Answer:
    return status, {"content-type": "application/json"}, dumps(value)
