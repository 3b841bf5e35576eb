"""One run of one scenario: requests in, answers out, everything recorded. Knows no sockets."""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from ..history import AnyEvent, Noted, RequestSeen
from ..scenario.model import Fault, Reply, Scenario, Step
from ..transcript import Conversation, conversation_of, previous_id
from ..wire.blocks import is_client_call
from ..wire.codec import canonical
from ..wire.eras import EraName
from ..wire.eras import era as era_named
from ..wire.errors import status_of
from ..wire.ids import Ids
from .again import Again, Known, shape_of
from .answer import Answer, Failure, nothing
from .batches import Item, item_of
from .breaks import error_of
from .classify import SIDE, Classifier
from .compose import Composer
from .endpoints import RULED, Endpoints
from .facts import Facts, Served
from .pages import Bad
from .replies import Asked, Replies
from .request import Request
from .rules import Finding, examine, prefix_of, transformations
from .script import Play, Script
from .stream import Channel, Pacer, Sender
from .threads import Threads
from .tools import Binder, client_tools

SIDE_TEXT = "OK."
UNBOUND_TEXT = "There is no tool I could use."
MOST_BODIES = 10_000
"""Requests an equal one is recognized among."""

OVER = Failure(
    status=400,
    message="The script of the scenario has ended: it has no answer to a further request of this turn.",
    rule="script_over",
)


class Session:
    """What the provider does in one run. `key` is the API key its loop uses; `record` gets every event.

    `era` replaces the scenario's.
    """

    def __init__(
        self,
        *,
        key: str,
        scenario: Scenario,
        record: Callable[[AnyEvent], None],
        seed: int = 0,
        worker: str = "w0",
        at_point: Callable[[str], Awaitable[None]] | None = None,
        era: EraName | None = None,
    ) -> None:
        self.key = key
        self.worker = worker
        self.scenario = scenario
        self.used = False
        self.token = ""  # a word in its prompts, where a request is known by that alone
        self.pacer = Pacer()
        self._record = self.note = record  # `note`: for what the server sees
        self._at_point = at_point
        self._ids = Ids(seed)
        of = era_named(era or scenario.era)
        self.binder = Binder.of(scenario.tools)
        self._composer = Composer(self._ids, of, self.binder)
        self._lane_composers = {lane.name: Composer(self._ids, of, self.binder) for lane in scenario.lanes}
        self.classifier = Classifier(scenario, self.binder)
        self.threads = Threads()
        self._replies = Replies(self._ids, self.threads, seed, of)
        self._served = Served()
        self._facts: Facts | None = None
        self._sender = Sender(record, self.pacer, seed, self._at_event if at_point else None)
        self._script: Script | None = None
        self._lanes = {lane.name: Script(lane.script) for lane in scenario.lanes}
        self._requests = 0
        self._points = 0
        self._events = 0
        self._endpoints = Endpoints(self._ids, seed, self._ask_for_batch)
        self._bodies: dict[bytes, int] = {}
        self._again = Again()
        self._refusing: Step | None = None
        self._stop_refusing: Callable[[], None] = nothing
        self.refuse: Callable[[float, Callable[[], None]], Callable[[], None]] | None = None
        """Refuses connections for so many seconds and says when that is over; what it returns ends it early.
        Set by a provider that can."""
        self._unanswered: set[bytes] = set()

    @property
    def lateness(self) -> float:
        """The worst delay of a timer, in seconds, since the session was made."""
        return self.pacer.lateness

    def begin_turn(self, index: int) -> None:
        """The user speaks: the script of the scenario's turn `index` starts with its first step."""
        turn = self.scenario.turns[index]
        self._script = Script(turn.script, remembers=turn.crash is not None)
        self.classifier.begin_turn(turn.prompt)
        self._composer.begin_turn()
        self._points = self._events = 0
        self._unanswered.clear()
        self.look_ahead()

    def begin_again(self) -> None:
        """The process that worked on the turn is dead, and another one begins with it."""
        if self._script:
            self._script.begin_again()

    def end_turn(self) -> None:
        """The loop is done with the turn: what it still asks is answered with an error that says so."""
        self._script = None
        self._stop_refusing()

    @property
    def refuses(self) -> bool:
        """Whether a script of the scenario refuses connections."""
        steps = [step for turn in self.scenario.turns for step in turn.script]
        return any(step.fault is not None and step.fault.connection == "refuse" for step in steps)

    def look_ahead(self) -> None:
        """Refuse connections where that is the step at hand. Without a way to, a request finds a reset."""
        script = self._script
        step = script.at_hand if script else None
        if script is None or step is None or step is self._refusing or self.refuse is None:
            return
        if step.fault is not None and step.fault.connection == "refuse":
            self._refusing = step
            self._record(Noted(kind="refusing", seconds=step.fault.seconds))

            def over() -> None:
                script.skip(step)
                self._refusing = None
                self.look_ahead()

            self._stop_refusing = self.refuse(step.fault.seconds, over)

    def answers_early(self, request: Request) -> bool:
        """Whether the step at hand answers this request before its body was read."""
        step = self._script.at_hand if self._script else None
        fault = step.fault if step else None
        asks = request.endpoint == "messages" and request.method == "POST"
        return asks and fault is not None and fault.before_body

    async def answer(self, request: Request, channel: Channel) -> bool:
        """Record `request`, answer it through `channel`; False when the client left before the end."""
        try:
            answer = self.receive(request)
            if answer.point is not None and self._at_point is not None:
                await self._at_point(f"request {answer.point}")
                if answer.delay:
                    await self._half_the_delay(answer, channel)
            return await self._sender.send(answer, channel)
        except Exception:
            self._record(Noted(kind="error", detail=traceback.format_exc(), request=self._requests))
            raise

    async def _half_the_delay(self, answer: Answer, channel: Channel) -> None:
        half = answer.delay / 2
        answer.delay -= half
        if await self.pacer.wait(half, channel.gone) and self._at_point is not None:
            await self._at_point(f"first byte {answer.point}")

    def receive(self, request: Request) -> Answer:
        """Record `request` and decide its answer."""
        self.used = True
        self._requests += 1
        request.decode()
        shape = shape_of(request)
        if shape is not None and (known := self._again.find(shape)):
            return self._known_already(request, known)
        resolved = self.threads.resolve(request.body)
        conversation = resolved if isinstance(resolved, Conversation) else Conversation()
        lane = self._lane(request, resolved)
        asked = Asked(
            number=self._requests,
            request=request,
            conversation=conversation,
            key=key_of(request),
            shape=shape,
        )
        self._see(asked, lane)
        if request.early:
            return self._converse(asked)
        if request.endpoint in RULED and (finding := self._broken_rule(asked, resolved)):
            return self._replies.fail(asked.number, finding.failure, "rejected")
        if request.endpoint != "messages":
            return self._aside(asked)
        return self._side(asked, lane) if lane else self._converse(asked)

    def _known_already(self, request: Request, known: Known) -> Answer:
        """The answer to a request of a shape that breaks no rule."""
        conversation = conversation_of(request.body)
        asked = Asked(
            number=self._requests,
            request=request,
            conversation=conversation,
            key=key_of(request),
            known=known,
        )
        lane = self.classifier.lane(request.body, conversation)
        self._see(asked, lane)
        self._facts = Facts.of(request, conversation, self._served)
        return self._side(asked, lane) if lane else self._converse(asked)

    def _lane(self, request: Request, resolved: Conversation | Failure) -> str:
        if request.endpoint != "messages" or request.method != "POST":
            return SIDE
        if request.early:
            return ""
        # A thread that cannot be continued was one of the conversation's.
        return self.classifier.lane(request.body, resolved) if isinstance(resolved, Conversation) else ""

    def _see(self, asked: Asked, lane: str) -> None:
        request, seen = asked.request, asked.conversation.messages
        threaded = previous_id(request.body) is not None
        self._record(
            RequestSeen(
                request=asked.number,
                endpoint=request.endpoint,
                method=request.method,
                path=request.path,
                headers=request.kept_headers(),
                body=request.body,
                transcript=seen if threaded else None,
                lane=lane,
                retry=request.retry,
                same_as=self._bodies.get(asked.key),
            )
        )
        self._bodies[asked.key] = asked.number
        if len(self._bodies) > MOST_BODIES:
            del self._bodies[next(iter(self._bodies))]

    def _broken_rule(self, asked: Asked, resolved: Conversation | Failure) -> Finding | None:
        """The first rule that rejects the request; those that do not are noted."""
        request = asked.request
        self._facts = Facts.of(request, resolved, self._served)
        clean = True
        for finding in examine(self._facts):
            clean = False
            if finding.verified and (finding.fatal or self.scenario.rules == "strict"):
                return finding
            kind = "lenient" if finding.verified else "unverified"
            detail = f"{finding.rule}: {finding.message}"
            self._record(Noted(kind=kind, detail=detail, request=self._requests))
        if clean and asked.shape is not None and request.endpoint == "messages":
            self._again.keep(asked.shape)
        return None

    def _converse(self, asked: Asked) -> Answer:
        """The script's answer to a request of the conversation."""
        script = self._script
        again = asked.request.retry > 0
        play = script.ask(asked.key, retry=again, said=lambda: asked.said) if script else None
        point = self._count(asked)
        if play is None or script is None:
            answer = self._replies.fail(asked.number, OVER, "over")
        elif play.step.fault is not None:
            self._unanswered.add(asked.key)
            answer = self._replies.fault(asked.number, play.step.fault, play.index)
            self.look_ahead()
        else:
            answer = self._reply(asked, play, script)
        answer.point = point
        return answer

    def _count(self, asked: Asked) -> int | None:
        """Which of the turn's requests this is; None for one that only tries again."""
        if asked.key in self._unanswered or asked.request.retry:
            return None
        self._points += 1
        return self._points

    def _reply(self, asked: Asked, play: Play, script: Script) -> Answer:
        reply = play.step.reply or Reply()
        offered = client_tools(asked.conversation.tools)
        calls = filter(is_client_call, reply.content)
        if not all(self.binder.can_bind(call, offered) for call in calls):
            script.cut(play)
            return self._replies.say(asked, UNBOUND_TEXT, "unbound")
        if not asked.request.wants_stream and (instead := _instead(reply)):
            # What breaks a stream with an error is an HTTP error to who waits for the whole.
            self._unanswered.add(asked.key)
            script.broke(play)
            return self._replies.fault(asked.number, instead, play.index)
        content: list[dict[str, Any]] = []
        answer = self._replies.again(asked, reply)
        if answer is None:
            content = self._composer.content(reply, play, offered)
            answer = self._replies.reply(asked, self._told(reply), content, "reply")
            self.classifier.sent(content)
            self._remember(content, answer.body)
        answer.step = play.index

        def delivered() -> None:
            script.delivered(play)
            self._unanswered.discard(asked.key)
            self._composer.delivered(content)
            self.look_ahead()

        def broken() -> None:
            script.broke(play)
            self._unanswered.add(asked.key)
            self.look_ahead()

        def cut() -> None:
            script.cut(play)
            self._unanswered.add(asked.key)

        answer.when(delivered=delivered, cut=cut, broken=broken)
        return answer

    def _told(self, reply: Reply) -> Reply:
        """`reply` with what was done to the request at hand, where the request wants to know."""
        done = transformations(self._facts) if self._facts else None
        if done is None:
            return reply
        return msgspec.structs.replace(reply, fields={"input_transformations": done} | reply.fields)

    def _remember(self, content: list[dict[str, Any]], said: dict[str, Any]) -> None:
        """The model said `content`, as the message `said`, to the request at hand."""
        facts = self._facts
        model, prefix = (facts.model, prefix_of(facts, content)) if facts else ("", None)
        has_container = said.get("container") is not None
        self._served.sent(content, said["stop_reason"], model, prefix, has_container=has_container)

    def _side(self, asked: Asked, lane: str) -> Answer:
        """The answer of a lane, or a short one where none was written."""
        script = self._lanes.get(lane)
        play = script.ask(asked.key, retry=asked.request.retry > 0) if script else None
        if play is None or script is None:
            return self._replies.say(asked, SIDE_TEXT, SIDE)
        if play.step.fault is not None:
            return self._replies.fault(asked.number, play.step.fault, play.index)
        reply = play.step.reply or Reply()
        composer = self._lane_composers[lane]
        content = composer.content(reply, play, client_tools(asked.conversation.tools))
        answer = self._replies.reply(asked, self._told(reply), content, SIDE)
        answer.step = play.index
        self._remember(content, answer.body)
        answer.when(
            delivered=lambda: script.delivered(play),
            cut=lambda: script.cut(play),
            broken=lambda: script.broke(play),
        )
        return answer

    def _aside(self, asked: Asked) -> Answer:
        """The answer of another endpoint."""
        try:
            body = self._endpoints.answer(asked.request, asked.conversation)
        except Bad as bad:
            return self._replies.fail(asked.number, bad.failure, "rejected")
        return self._replies.data(asked, body)

    def _ask_for_batch(self, request: Request) -> Item:
        """What the script, or a lane, says to one request of a batch."""
        conversation = conversation_of(request.body)
        asked = Asked(
            number=self._requests,
            request=request,
            conversation=conversation,
            key=key_of(request),
        )
        if finding := self._broken_rule(asked, conversation):
            return item_of(self._replies.fail(asked.number, finding.failure, "rejected"))
        lane = self._lane(request, conversation)
        return item_of(self._side(asked, lane) if lane else self._converse(asked))

    async def _at_event(self) -> None:
        self._events += 1
        if self._at_point is not None:
            await self._at_point(f"event {self._events}")


def key_of(request: Request) -> bytes:
    """The same for equal bodies to the same endpoint."""
    whole = canonical([request.endpoint, request.body])
    return whole if len(whole) <= 64 else hashlib.blake2b(whole, digest_size=32).digest()


def _instead(reply: Reply) -> Fault | None:
    """The HTTP error that stands for a reply which an error breaks off."""
    for each in reply.breaks:
        if each.by == "error":
            kind, message = error_of(each)
            return Fault(status=status_of(kind), type=kind, message=message, delay=reply.delay)
    return None
