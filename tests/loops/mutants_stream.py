"""Mutants that misread a stream: cut where it was written in pieces, or shaken by what may be passed over."""

from __future__ import annotations

from typing import Any

from harness.loops.reference import ReferenceTurn
from harness.loops.reference.receive import Accumulator, BrokenStreamError, SseDecoder
from tests.loops.mutant import breaks


class PerRead(SseDecoder):
    """Decodes what one read brings by itself."""

    def feed(self, chunk: bytes) -> list[dict[str, Any]]:
        return super().feed(chunk.decode("utf-8", "replace").encode())


@breaks("STREAM-1", on=("stream/byte-by-byte", "stream/cut-inside-character"), variants=("sse",))
class DecodesEachReadByItself(ReferenceTurn):
    """Makes text of the bytes of each read, whole characters or not."""

    def decoder(self) -> SseDecoder:
        return PerRead()


class StartIgnored(Accumulator):
    """Knows the input of a call from its deltas alone."""

    def add(self, event: dict[str, Any]) -> None:
        super().add(event)
        if event.get("type") == "content_block_start" and "input" in event["content_block"]:
            self.message["content"][-1]["input"] = {}


@breaks("STREAM-1", on=("stream/input-in-start",), variants=("sse",))
class IgnoresTheInputOfTheStart(ReferenceTurn):
    """Takes no input from the start of a block."""

    def accumulator(self) -> Accumulator:
        return StartIgnored()


class OneBuffer(Accumulator):
    """Has one buffer for the inputs of all blocks, and empties it when there is something in it."""

    buffer = ""

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        if delta.get("type") == "input_json_delta":
            self.buffer += delta["partial_json"]
        else:
            super()._delta(index, delta)

    def _close(self, index: int) -> None:
        block = self.message["content"][index]
        if block.get("type") == "tool_use" and self.buffer:
            block["input"] = self._input(self.buffer)


@breaks("STREAM-1", on=("stream/no-arguments",), variants=("sse",))
class HasOneBufferForAllInputs(ReferenceTurn):
    """Gives a call without arguments those of the call before it."""

    def accumulator(self) -> Accumulator:
        return OneBuffer()


class FragmentByFragment(Accumulator):
    """Decodes the escapes of each fragment by itself."""

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        if delta.get("type") == "input_json_delta":
            text = delta["partial_json"].replace("\\u", "")
            delta = {**delta, "partial_json": text.replace("\\", "") if text.endswith("\\") else text}
        super()._delta(index, delta)


@breaks("STREAM-1", on=("stream/escapes",), variants=("sse",))
class ReadsFragmentsByThemselves(ReferenceTurn):
    """Reads the escapes of an input before it is whole."""

    def accumulator(self) -> Accumulator:
        return FragmentByFragment()


class Strict(Accumulator):
    """Has a list of the events there are."""

    known = frozenset(
        ("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
         "message_stop", "ping", "error")
    )  # fmt: skip

    def add(self, event: dict[str, Any]) -> None:
        if event.get("type") not in self.known:
            raise BrokenStreamError(f"unknown event {event.get('type')}")
        super().add(event)


@breaks("STREAM-2", on=("fault/stream-unknown-event",), variants=("sse",))
class RaisesOnNewEvents(ReferenceTurn):
    """Takes an event that it does not know for a fault."""

    def accumulator(self) -> Accumulator:
        return Strict()


class Orderly(Accumulator):
    """Expects a fragment after a fragment."""

    begun = False

    def add(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind == "ping" and self.begun:
            raise BrokenStreamError("a ping within a block")
        self.begun = kind == "content_block_delta"
        super().add(event)


@breaks("STREAM-2", on=("stream/pings", "fault/stream-stalled"), variants=("sse",))
class StumblesOverPings(ReferenceTurn):
    """Takes a ping between two fragments for a fault."""

    def accumulator(self) -> Accumulator:
        return Orderly()
