"""The first wrong step of a loop that cannot be judged yet, found by the shortest of all turns.

The steps are a ladder: each needs the ones before it. Pure: what happened in, rungs out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from .history import Answered, AnyEvent, Ended, Exited, Lost, Noted, Overran, RequestSeen
from .runner import Smoke

Kind: TypeAlias = Literal["python", "process", "agent", "service"]
LADDER = (
    "it starts",
    "it reads the turn",
    "it asks the provider",
    "it asks there in the right way",
    "its requests are taken",
    "it tells how the turn ended",
    "what it tells can be meant",
)
STARTS, READS, ASKS, WAY, TAKEN, TELLS, FORM = range(len(LADDER))
SAID = "Hello from the probe."
"""What the model says in that turn."""
REGISTRIES = ("registry.npmjs.org", "registry.yarnpkg.com", "pypi.org", "rubygems.org", "repo.packagist.org")
"""Where `npx` and its like look for what is not in the folder they run in."""
_INSTALL = "it runs in an empty folder: where it is installed in yours, add --cwd .; else install it before"
_POINT: dict[Kind, str] = {
    "python": "give its client turn.base_url and turn.api_key; ANTHROPIC_BASE_URL is set as well",
    "process": "give its client ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY, which are in its environment",
    "agent": "it has to take ANTHROPIC_BASE_URL from its environment; or put {base_url} into the command",
    "service": "it has to find the API at one address for as long as it lives: --start puts it into "
    "ANTHROPIC_BASE_URL, without it that is http://127.0.0.1:4010/w0",
}
_TELL: dict[Kind, str] = {
    "python": "return the text, or Outcome(shown=[…])",
    "process": 'print {"outcome": {"shown": ["…"]}} as a line at the end, or POST it to $HARNESS_URL/outcome',
    "agent": "print the answer, and have --answer stdout",
    "service": "answer the request, and say with --answer where in the answer the text is",
}
_READ: dict[Kind, str] = {
    "python": "",
    "process": "read one line of JSON from the standard input: it is the turn",
    "agent": "put {prompt} into the command, or read the prompt from the standard input",
    "service": "pass the prompt on as it comes; --body says where it goes",
}


class Rung(msgspec.Struct, frozen=True, kw_only=True):
    """One step, and how it went."""

    name: str
    state: Literal["ok", "wrong", "lacking", "unknown"]
    """`lacking`: the loop can be judged all the same."""
    found: str = ""
    """What happened, where that has to be said."""
    advice: str = ""
    output: str = ""
    """What the loop printed, or the traceback."""


class _Wrong(msgspec.Struct, frozen=True):
    step: int
    found: str
    advice: str = ""
    output: str = ""
    lacking: bool = False


def climb(smoke: Smoke, kind: Kind) -> list[Rung]:
    """The ladder up to the first wrong step; what is above it is not known."""
    wrong = _wrong(smoke, kind)
    rungs = []
    for step, name in enumerate(LADDER):
        if wrong is None or step < wrong.step:
            rungs.append(Rung(name=name, state="ok"))
        elif step == wrong.step:
            state: Literal["wrong", "lacking"] = "lacking" if wrong.lacking else "wrong"
            said = wrong.found, wrong.advice, wrong.output
            rungs.append(Rung(name=name, state=state, found=said[0], advice=said[1], output=said[2]))
        else:
            rungs.append(Rung(name=name, state="unknown"))
    return rungs


def _wrong(smoke: Smoke, kind: Kind) -> _Wrong | None:
    if smoke.problem:
        return _Wrong(STARTS, smoke.problem)
    seen = _Seen(smoke.events)
    if not seen.asked:
        return _silent(smoke, seen, kind)
    return _refused(seen, kind) or _ending(seen, kind)


class _Seen:
    """The events a step is known by."""

    def __init__(self, events: Sequence[AnyEvent]) -> None:
        self.asked = [event for event in events if isinstance(event, RequestSeen)]
        self.answers = [event for event in events if isinstance(event, Answered)]
        self.elsewhere = [e.detail for e in events if isinstance(e, Noted) and e.kind == "elsewhere"]
        self.exit = next((event for event in events if isinstance(event, Exited)), None)
        self.lost = next((event for event in events if isinstance(event, Lost)), None)
        self.overran = next((event for event in events if isinstance(event, Overran)), None)
        self.ended = next((event for event in events if isinstance(event, Ended)), None)

    @property
    def output(self) -> str:
        """What the loop said in all."""
        if self.ended and self.ended.raised and self.ended.raised.traceback:
            return self.ended.raised.traceback.strip()
        said = [self.exit.stdout, self.exit.stderr] if self.exit else []
        said += [self.lost.output] if self.lost and not self.exit else []
        return "\n".join(text.strip() for text in said if text.strip())

    @property
    def end(self) -> str:
        """How it ended, in words."""
        if self.overran:
            where = f", at {self.overran.stood}" if self.overran.stood else ""
            return f"it was still running after {self.overran.deadline:g} s{where}"
        if self.ended and self.ended.raised:
            raised = self.ended.raised
            what = "ended with" if raised.type.startswith("exit ") else "raised"
            return f"it {what} {raised.type}" + (f": {raised.message}" if raised.message else "")
        return self.lost.reason if self.lost else "it ended"


def _silent(smoke: Smoke, seen: _Seen, kind: Kind) -> _Wrong:
    """Nobody asked the provider."""
    if seen.lost and "cannot be started" in seen.lost.reason:
        return _Wrong(STARTS, seen.lost.reason, "name what runs the file before it, as in `python file.py`")
    exit_ = seen.exit
    failed = exit_ is not None and (exit_.code != 0 or exit_.signal is not None) and not seen.overran
    if exit_ is not None and exit_.unread and not seen.elsewhere and not smoke.strangers:
        if failed:
            advice = "what it printed says why; where it needs its own folder, add --cwd ."
            how = f"exit {exit_.code}" if exit_.signal is None else f"signal {exit_.signal}"
            return _Wrong(STARTS, f"it ended with {how} before it had read anything", advice, seen.output)
        return _Wrong(READS, f"{seen.end}, and nothing of the turn was read", _READ[kind], seen.output)
    if smoke.strangers:
        who = "; ".join(dict.fromkeys(smoke.strangers))
        return _Wrong(WAY, f"it asked the provider, but as nobody: {who}", _POINT[kind], seen.output)
    if seen.elsewhere:
        return _asked_others(seen, kind, failed=failed)
    return _Wrong(ASKS, f"{seen.end}, and had asked nobody that we know of", _POINT[kind], seen.output)


def _asked_others(seen: _Seen, kind: Kind, *, failed: bool) -> _Wrong:
    others = ", ".join(seen.elsewhere)
    if failed and all(place.partition(":")[0] in REGISTRIES for place in seen.elsewhere):
        found = f"it wanted to install something from {others}, which was refused"
        return _Wrong(STARTS, found, _INSTALL, seen.output)
    return _Wrong(ASKS, f"it asked {others} instead, which was refused", _POINT[kind], seen.output)


def _refused(seen: _Seen, kind: Kind) -> _Wrong | None:
    """The provider was asked, and never gave a reply of the script."""
    if any(answer.kind == "reply" for answer in seen.answers):
        return None
    if all(request.endpoint == "unknown" for request in seen.asked):
        first = seen.asked[0]
        where = f"it asked {first.method} {first.path}, where the API has nothing"
        return _Wrong(WAY, where, "the Messages API is POST <base URL>/v1/messages", seen.output)
    rejected = [answer for answer in seen.answers if answer.kind == "rejected"]
    if rejected:
        message = _message(rejected[0])
        step = WAY if rejected[0].status in (401, 403, 404, 405) else TAKEN
        advice = _POINT[kind] if step == WAY else "the real API answers the same to this request"
        return _Wrong(step, f"its first request got {rejected[0].status}: {message}", advice, seen.output)
    if all(answer.kind == "side" for answer in seen.answers) and seen.answers:
        found = "no request of it holds the prompt, the system prompt or the tools of the turn"
        return _Wrong(READS, found, _READ[kind] or "send turn.messages", seen.output)
    return None


def _message(answer: Answered) -> str:
    body: Any = answer.body
    error = body.get("error") if isinstance(body, dict) else None
    return str(error.get("message", error)) if isinstance(error, dict) else str(body)


def _ending(seen: _Seen, kind: Kind) -> _Wrong | None:
    """It was answered: what became of that."""
    if seen.overran:
        found = f"it had its answer and was still running after {seen.overran.deadline:g} s"
        return _Wrong(TELLS, found, "end when the turn has ended; " + _TELL[kind], seen.output)
    if seen.lost:
        malformed = seen.lost.reason.startswith(("outcome:", "hello:", "the adapter returned", "what the"))
        step = FORM if malformed or "hello" in seen.lost.reason else TELLS
        return _Wrong(step, seen.lost.reason, _TELL[kind] if step == TELLS else "", seen.output)
    return _told(seen, seen.ended, kind) if seen.ended else _Wrong(TELLS, seen.end, _TELL[kind], seen.output)


def _told(seen: _Seen, ended: Ended, kind: Kind) -> _Wrong | None:
    if ended.raised:
        return _Wrong(TELLS, f"it had a finished answer, and {seen.end.removeprefix('it ')}", "", seen.output)
    if ended.returned == "none" and not ended.shown:
        found = "it told nothing: it can be judged by its requests alone"
        return None if kind == "agent" else _Wrong(TELLS, found, _TELL[kind], lacking=True)
    if ended.shown is not None and SAID not in str(ended.shown):
        return _Wrong(FORM, f"the answer {SAID!r} is not in what it showed: {ended.shown}", _TELL[kind])
    return None
