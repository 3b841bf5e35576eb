"""How far a recording is from today: what the installed client, and the provider, make of its replies.

And which of its requests a fresh run of the loop does not make any more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..loops.sdk_types import mismatches
from ..provider.compose import Composer, compose
from ..provider.script import Play
from ..scenario.model import Reply, Step
from ..wire.cache import PromptCache
from ..wire.codec import canonical, dumps
from ..wire.eras import ERAS, Era, era, era_of
from ..wire.ids import Ids
from ..wire.received import events
from ..wire.same import canonical as same_numbers
from ..wire.wanted import Wanted
from .exchanges import Recorded, talk_of
from .matching import IGNORED, without
from .matching import Path as Fields
from .model import Cassette

Json = dict[str, Any]
_TOLD = ("stop_reason", "stop_sequence", "stop_details", "container")
_SEALED = frozenset({"signature", "data", "encrypted_content", "encrypted_index"})
_FREE = frozenset({"input", "caller"})
"""Fields whose keys belong to the program, or tell nothing of the API's age."""


@dataclass(frozen=True)
class Finding:
    """One way in which a recording is behind."""

    kind: str
    """`sdk`: the client's types do not take a reply; `unknown`: it has keys that the provider never sends;
    `changed`: replies of today have other keys; `unsent`: nobody makes this request any more."""
    line: int
    number: int
    """Of the interaction in its file, from 1."""
    text: str


@dataclass
class Drift:
    """What a recording has and lacks."""

    path: Path
    replies: int = 0
    requests: int = 0
    findings: list[Finding] = field(default_factory=list)

    def where(self, finding: Finding) -> str:
        """`file:line` of the interaction."""
        return f"{self.path}:{finding.line}"


def drift_of(cassette: Cassette, sent: frozenset[bytes] | None = None) -> Drift:
    """Compare a recording with today, and with the requests that were `sent` in a fresh run."""
    found = Drift(cassette.path)
    for one in talk_of(cassette).exchanges:
        found.requests += 1
        if sent is not None and key_of(one.body) not in sent:
            found.findings.append(
                Finding("unsent", one.line, one.number, "nobody sends this request any more")
            )
        if one.message is not None and one.whole:
            found.replies += 1
            found.findings += _reply(one)
    return found


def _reply(one: Recorded) -> Iterator[Finding]:
    for text in list(dict.fromkeys(_mismatches(one)))[:3]:
        yield Finding("sdk", one.line, one.number, text)
    message = one.message or {}
    then, now = _keys(_replied(one, era_of(message))), _keys(_replied(one, era()))
    have = _keys(message)
    known = then | now
    for of in ERAS if have - known else ():
        known |= _keys(_replied(one, of))
    if have - known:
        yield Finding("unknown", one.line, one.number, f"the reply has {_listed(have - known)}")
    for key in sorted(now - have):
        yield Finding("changed", one.line, one.number, f"`{key}` has come")
    for key in sorted((have & known) - now):
        yield Finding("changed", one.line, one.number, f"`{key}` has gone")


def _listed(keys: Iterable[str]) -> str:
    return ", ".join(f"`{key}`" for key in sorted(keys))


def _mismatches(one: Recorded) -> Iterator[str]:
    request = one.interaction.request
    beta = "beta=true" in request.uri or bool(one.asked("anthropic-beta"))
    if one.stream is None:
        yield from mismatches(one.message, beta=beta)
        return
    for event in events(one.interaction.response.body):
        yield from (f"{event.name}: {text}" for text in mismatches(event.data, event=True, beta=beta))


def _replied(one: Recorded, of: Era) -> Json:
    """What the provider answers to the recorded request with the recorded content."""
    answer = one.message or {}
    blocks = [each for each in answer.get("content") or [] if isinstance(each, dict) and "type" in each]
    # Who called for a block is filled in by the era.
    content = [
        {key: each for key, each in block.items() if key != "caller" or block["type"] not in of.callers}
        for block in blocks
    ]
    reply = Reply(content=content, **{key: answer[key] for key in _TOLD if answer.get(key) is not None})
    names = [str(block["name"]) for block in content if "name" in block]
    filled = Composer(Ids(0), of).content(reply, Play(0, 0, Step(reply=reply)), names)
    headers = {name.lower(): value for name, value in one.interaction.request.headers}
    wanted = Wanted.of(one.body, headers)
    seen = {
        "messages": one.body.get("messages"),
        "system": one.body.get("system"),
        "tools": one.body.get("tools"),
    }
    composed = compose("msg_01", reply, filled, seen, wanted=wanted, cache=PromptCache(), of=of)
    message: Json = json.loads(dumps(composed.message))
    return message


def _keys(message: Mapping[str, Any]) -> set[str]:
    """The keys of a message, of its usage and of its blocks by type: `usage.speed`, `text.citations`."""
    found = {key for key in message if key not in ("usage", "content")}
    usage = message.get("usage")
    found |= {f"usage.{key}" for key in usage} if isinstance(usage, dict) else set()
    for block in message.get("content") or []:
        if isinstance(block, dict):
            found |= {f"{block.get('type')}.{key}" for key in block if key not in _FREE}
    return found


def key_of(body: Mapping[str, Any]) -> bytes:
    """Equal for requests that say the same: ids, signatures and who asked may differ."""
    bare = without(dict(body), [Fields.of(path) for path in IGNORED])
    return canonical(same_numbers(_bare(bare, {})))


def _bare(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_bare(each, names) for each in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, each in value.items():
        if key in ("id", "tool_use_id") and isinstance(each, str):
            found[key] = names.setdefault(each, f"id {len(names)}")
        elif key not in _SEALED:
            found[key] = _bare(each, names)
    return found
