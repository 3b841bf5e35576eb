"""Turns a recorded conversation into a scenario: readable, in other words, accepted by the loader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from ..evidence import CUT
from ..scenario.filler import Disguise, Find, personal
from ..scenario.load import parse_scenario
from ..scenario.model import Scenario, Task
from ..scenario.written import written
from ..wire.blocks import SERVER_CALLS
from ..wire.models import is_known
from ..wire.same import canonical
from .apart import tell_apart
from .draft import Draft, Turn, draft_of, labels_of
from .redact import Redactor
from .rounds import Round
from .secrets import FIELDS
from .wording import Wording

Json = dict[str, Any]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How a scenario is written down."""

    seed: int = 1
    """Of the words that stand for the recorded ones."""
    keep_text: bool = False
    """Replace only what looks like a secret or like an address, a telephone or another personal number."""
    shorten: int | None = None
    """Characters after which a text is cut."""


@dataclass(frozen=True)
class Promoted:
    """A scenario file."""

    text: str
    scenario: Scenario
    notes: list[str]
    """What it does not have of the recording."""


def promote(
    rounds: Sequence[Round],
    origin: str,
    scenario_id: str,
    options: Options | None = None,
    broken: Sequence[str] = (),
    redactor: Redactor | None = None,
) -> Promoted:
    """The scenario in which these rounds happen again.

    `origin` says where they are from, `broken` which clauses were broken there, `redactor` knows the secrets
    that the recording used. Raises `ScenarioError` where
    it cannot be said in a scenario.
    """
    options = options or Options()
    draft = draft_of(rounds)
    secrets = partial(_secrets, redactor or Redactor())
    disguise = Disguise(options.seed, secrets if options.keep_text else None, FIELDS)
    writer = _Writer(draft, Wording(disguise, options.shorten), broken, secrets)
    values = writer.values(rounds[0])
    if replaced := tell_apart(values, writer.wording.disguise):
        draft.note(f"{replaced} of its texts came twice, or within another, and got other words.")
    how = "Secrets and personal details are" if options.keep_text else "All text is"
    comments = [
        f"Promoted from {origin}.",
        f"{how} replaced by words of the same length (seed {options.seed}).",
        *draft.notes,
    ]
    text = written(values, comments)
    scenario = parse_scenario(text.encode(), scenario_id=scenario_id, path=f"{scenario_id}.yaml")
    return Promoted(text, scenario, draft.notes)


def _secrets(redactor: Redactor, text: str) -> Iterator[tuple[int, int]]:
    """Where a text has what nobody else should read, as far as it is known or its shape tells."""
    yield from redactor.places(text)
    yield from personal(text)


class _Writer:
    def __init__(self, draft: Draft, wording: Wording, broken: Sequence[str], secrets: Find) -> None:
        self.draft = draft
        self.wording = wording
        self._broken = broken
        self._secrets = secrets
        wording.labels = labels_of(draft)
        self._names = self._defined()

    def values(self, first: Round) -> Json:
        """The values of the file, in the order in which they are read best."""
        turns = [self._turn(turn) for turn in self.draft.turns]
        values: Json = {
            "title": self._title(),
            "clauses": self._clauses(),
            "why": f"when it happened, {' and '.join(self._broken)} came out broken"
            if self._broken
            else "it happened once, and goes well when it happens again",
        }
        task = self._task(first)
        if len(turns) == 1:
            [only] = turns
            if prompt := only.pop("prompt", None):
                task = {"prompt": prompt, **task}
            values |= {"task": task, **self._tools(), **only}
        else:
            values |= {"task": task, **self._tools(), "turns": turns}
        if any("breaks" in (step.get("reply") or {}) for turn in turns for step in turn["script"]):
            values["streams"] = "only"
        return values

    def _task(self, first: Round) -> Json:
        task: Json = {}
        model = first.body.get("model")
        if isinstance(model, str) and is_known(model):
            task["model"] = model
        else:
            self.draft.note("The model is another one: the recorded one is not known here.")
        limit = first.body.get("max_tokens")
        if isinstance(limit, int) and limit > 0 and limit != Task().max_tokens:
            task["max_tokens"] = limit
        system = first.body.get("system")
        if isinstance(system, list):
            system = "\n\n".join(str(part.get("text")) for part in system if isinstance(part, dict))
        task["system"] = self.wording.text(system) if isinstance(system, str) else ""
        return task

    def _turn(self, turn: Turn) -> Json:
        found: Json = {}
        if turn.prompt is not None:
            found["prompt"] = self.wording.text(turn.prompt)
        if turn.limits:
            found["limits"] = turn.limits
        if turn.cancel:
            found["cancel"] = turn.cancel
        found["script"] = [self._step(step) for step in turn.steps]
        return found

    def _step(self, step: Json) -> Json:
        if "made_up" in step:
            self.draft.note("Where it ended before the turn did, the last reply is made up.")
            return {"reply": {"content": [{"text": self.wording.disguise.sentence("the end")}]}}
        if "fault" in step:
            fault = dict(step["fault"])
            if "message" in fault:
                fault["message"] = Disguise(0, self._secrets).text(fault["message"])
            return {"fault": fault}
        reply = self._reply(step["reply"])
        if "by" in step:
            place = "content_block_stop" if reply["content"] else "message_start"
            reply["breaks"] = [{"at": place, "by": step["by"]}]
        return {"reply": reply}

    def _reply(self, message: Json) -> Json:
        found: Json = {}
        reason = message.get("stop_reason")
        if isinstance(reason, str) and reason and reason != "end_turn":
            found["stop_reason"] = reason
        if isinstance(message.get("stop_sequence"), str):
            found["stop_sequence"] = message["stop_sequence"]
        for name in ("stop_details", "container"):
            if isinstance(message.get(name), dict):
                found[name] = message[name]
        content = message.get("content") or []
        found["content"] = [self.wording.block(block) for block in content if isinstance(block, dict)]
        return found

    def _defined(self) -> list[str]:
        """The tools of the scenario: those that were offered, and called or spoken of by the API."""
        known = dict.fromkeys(str(call.get("name")) for call in self.draft.calls())
        for block in [*self.draft.replies(), *self.draft.results.values()]:
            known |= dict.fromkeys(_references(block.get("content")))
        return [name for name in known if name in self.draft.offered]

    def _tools(self) -> Json:
        tools = {name: self._tool(name) for name in self._names}
        return {"tools": tools} if tools else {}

    def _tool(self, name: str) -> Json:
        answers: list[Json] = []
        seen: dict[bytes, Json] = {}
        for call in self.draft.calls():
            if call.get("name") != name:
                continue
            given = call.get("input") or {}
            key = msgspec.json.encode(canonical(given), order="deterministic")
            answer = self._outcome(self.draft.results.get(str(call.get("id"))))
            if key in seen and seen[key] != answer:
                self.draft.note(f"{name} answers the same input always the same, as it did first.")
            elif key not in seen:
                seen[key] = answer
                answers.append({"when": self.wording.disguise.value(given), **answer})
        answers = answers or [{"result": "ok"}]
        plain = [{key: value for key, value in each.items() if key != "when"} for each in answers]
        return plain[0] if all(each == plain[0] for each in plain) else {"answers": answers}

    def _outcome(self, block: Json | None) -> Json:
        if block is None:
            return {"result": "ok"}
        result = self.wording.result(block.get("content"))
        if not block.get("is_error"):
            return {"result": result}
        texts = [result] if isinstance(result, str) else [str(each.get("text", "")) for each in result]
        return {"raises": "\n".join(texts).strip() or "it failed"}

    def _title(self) -> str:
        turns, replies = len(self.draft.turns), len(list(self.draft.replies()))
        parts = [f"{replies} {'reply' if replies == 1 else 'replies'} in {turns} turn{'s' * (turns > 1)}"]
        if self._names:
            parts.append(f"calls of {', '.join(self._names[:3])}{' and more' * (len(self._names) > 3)}")
        return f"A recorded conversation: {', '.join(parts)}"

    def _clauses(self) -> list[str]:
        """What the conversation is about, by what is in it."""
        replies = list(self.draft.replies())
        reasons = {str(reply.get("stop_reason")) for reply in replies}
        steps = [step for turn in self.draft.turns for step in turn.steps]
        unknown = any(str(call.get("name")) not in self._names for call in self.draft.calls())
        kinds = _kinds(replies)
        about = {
            "HIST-1": len(replies) > 1,
            "HIST-4": "thinking" in kinds and "tool_use" in reasons,
            "TOOL-1": "tool_use" in reasons,
            "TOOL-2": "tool_use" in reasons,
            "TOOL-5": unknown,
            "TOOL-7": bool(_kinds(replies[:-1]) & SERVER_CALLS),
            "PAUSE-1": "pause_turn" in reasons,
            "PAUSE-2": "pause_turn" in reasons,
            "TRUNC-1": not reasons.isdisjoint(CUT[:1]),
            "REFUSE-1": "refusal" in reasons,
            "FAULT-9": "fault" in steps[-1],
            "FAULT-3": any("fault" in step for step in steps[:-1]),
            "FAULT-5": any("by" in step for step in steps),
            "SHOW-1": "text" in kinds or not steps or "reply" in steps[-1],
        }
        return list(dict.fromkeys([*self._broken, *(name for name, is_about in about.items() if is_about)]))


def _kinds(replies: Sequence[Json]) -> set[str]:
    blocks = (block for reply in replies for block in reply.get("content") or [])
    return {str(block.get("type")) for block in blocks if isinstance(block, dict)}


def _references(value: Any) -> Iterator[str]:
    """Names of tools that a result of the API's tool search refers to."""
    if isinstance(value, dict):
        if value.get("type") == "tool_reference":
            yield str(value.get("tool_name"))
        for each in value.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)
