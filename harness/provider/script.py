"""The script as a state machine that knows no sockets: `(state, request) -> effect`.

Rules:

1. A strict sequence: the next request gets the step at hand.
2. A reply is used up when its last byte is written or when it breaks off as the scenario says, a fault by
   the attempt. What was rejected uses up nothing: such a request never comes here.
3. A reply that did not reach its client is still at hand, so the request that follows gets it again.
4. A reply whose last byte was written may still be lost on its way. A client that says it tries the same
   body again (`x-stainless-retry-count`) did not get it, and gets it again.
5. A client that begins again, in a new process, may ask what was asked before: it is told the same, and the
   script goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto

import msgspec

from ..scenario.model import Step


class State(Enum):
    """How far the step at hand is."""

    READY = auto()
    """Nothing of it was asked for yet."""
    SENDING = auto()
    """Its reply is on its way."""
    CUT = auto()
    """Its reply broke off."""
    SENT = auto()
    """The reply before it was written in full; nothing of this one was asked for yet."""


class Ask(Enum):
    """What a request is to the script."""

    OTHER = auto()
    """Another body than the one answered last, or the first."""
    SAME = auto()
    """An equal body, not marked as a retry."""
    RETRY = auto()
    """An equal body that the client sends again for want of an answer."""


class Effect(Enum):
    """What a request gets."""

    STEP = auto()
    """The step at hand; where there is none, the script is over."""
    LAST = auto()
    """The reply before it, once more."""


EFFECTS: dict[tuple[State, Ask], Effect] = {
    (State.READY, Ask.OTHER): Effect.STEP,
    (State.READY, Ask.SAME): Effect.STEP,
    (State.READY, Ask.RETRY): Effect.STEP,
    (State.SENDING, Ask.OTHER): Effect.STEP,
    (State.SENDING, Ask.SAME): Effect.STEP,
    (State.SENDING, Ask.RETRY): Effect.STEP,
    (State.CUT, Ask.OTHER): Effect.STEP,
    (State.CUT, Ask.SAME): Effect.STEP,
    (State.CUT, Ask.RETRY): Effect.STEP,
    (State.SENT, Ask.OTHER): Effect.STEP,
    (State.SENT, Ask.SAME): Effect.STEP,
    (State.SENT, Ask.RETRY): Effect.LAST,
}


class Play(msgspec.Struct, frozen=True):
    """A step given to a request: its place in the script, and how many times it had been used up before."""

    index: int
    round: int
    step: Step


class Script:
    """Steps played in order. Ask for one with each request, then say how its answer went.

    Only one that `remembers` what was asked can begin again.
    """

    def __init__(self, steps: Sequence[Step], *, remembers: bool = False) -> None:
        self._steps = steps
        self._remembers = remembers
        self._asked: dict[bytes, Play] = {}
        self._earlier: dict[bytes, Play] = {}
        self._index = 0
        self._round = 0
        self._state = State.READY
        self._last: Play | None = None
        self._body: bytes | None = None

    def ask(
        self, body: bytes, *, retry: bool = False, said: Callable[[], bytes] | None = None
    ) -> Play | None:
        """The step for a request with this body (its canonical form); None when the script is over.

        `said` tells the conversation in it: who begins again may ask the same in other words, without a
        thread or with other headers.
        """
        place = said() if said and self._remembers else body
        if earlier := self._earlier.pop(place, None):
            self._index, self._round, self._state = earlier.index, earlier.round, State.READY
        effect = EFFECTS[self._state, self._kind(body, retry)]
        self._body = body
        if effect is Effect.LAST:
            return self._last
        if self._index >= len(self._steps):
            return None
        play = Play(self._index, self._round, self._steps[self._index])
        if self._remembers:
            self._asked[place] = play
        if play.step.fault is not None:
            self._use_up(play, State.READY)
        else:
            self._state = State.SENDING
        return play

    def begin_again(self) -> None:
        """Those who ask are a new process that works on the same turn."""
        self._earlier = dict(self._asked)

    def delivered(self, play: Play) -> None:
        """The last byte of the step's reply was written."""
        if self._at_hand(play):
            self._use_up(play, State.SENT)

    def broke(self, play: Play) -> None:
        """The step's reply broke off where the scenario says: whoever tries again gets the next step."""
        if self._at_hand(play):
            self._use_up(play, State.READY)

    @property
    def at_hand(self) -> Step | None:
        """The step the next request gets; None when the script is over."""
        return self._steps[self._index] if self._index < len(self._steps) else None

    def skip(self, step: Step) -> None:
        """Use up a step without a request."""
        if self.at_hand is step:
            self._use_up(Play(self._index, self._round, step), State.READY)

    def cut(self, play: Play) -> None:
        """The step's reply did not reach its client."""
        if self._at_hand(play):
            self._state = State.CUT

    def _kind(self, body: bytes, retry: bool) -> Ask:
        if body != self._body:
            return Ask.OTHER
        return Ask.RETRY if retry else Ask.SAME

    def _at_hand(self, play: Play) -> bool:
        """Not so when two requests got the same step and the other one's answer came first."""
        return (play.index, play.round) == (self._index, self._round) and play.step.fault is None

    def _use_up(self, play: Play, state: State) -> None:
        self._last = play
        self._state = state
        self._round += 1
        repeat = play.step.repeat
        if repeat != "forever" and self._round >= repeat:
            self._index += 1
            self._round = 0
