"""The turn of the reference loop after a crash: it goes on from its checkpoint."""

from __future__ import annotations

from harness.loops.reference.effects import Ran, RecordUsage
from harness.store import Store
from tests.loops.by_hand import Hand
from tests.loops.canned import call, reply, text, tool

PROMPT = {"role": "user", "content": "Hello?"}


ADD, SUB = tool("add", result="3"), tool("sub", result="1")


def assistant(*content: dict[str, object]) -> dict[str, object]:
    return {"role": "assistant", "content": list(content)}


def result(call_id: str, content: str, is_error: bool = False) -> dict[str, object]:
    block: dict[str, object] = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return block | {"is_error": True} if is_error else block


def crashed_during(name: str) -> tuple[Store, Hand]:
    """The store as a process leaves it that dies while `name` runs, and what it had done."""
    hand = Hand([reply("tool_use", call("add"), call("sub"))], tools=(ADD, SUB))
    store = Store()

    def dies(hand: Hand, ran: str) -> Ran:
        if ran == name:
            store.update(hand.store)
            raise KeyboardInterrupt
        return Ran(f"{ran}!")

    hand.on_tool = dies
    return store, hand.run()


def test_a_rerun_goes_on_where_the_first_run_died():
    store, _ = crashed_during("sub")
    rerun = Hand([reply("end_turn", text("Done."))], tools=(ADD, SUB), store=store).run()
    assert rerun.ran == []
    first, second = rerun.requests[0][-1]["content"]
    assert first == result("toolu_add", "add!")
    assert "interrupted" in second["content"]
    assert rerun.of(RecordUsage) == [RecordUsage(2, {"input_tokens": 20, "output_tokens": 10})]
    assert rerun.landed()


def test_a_rerun_runs_what_had_not_begun():
    store, _ = crashed_during("add")
    rerun = Hand([reply("end_turn", text("Done."))], tools=(ADD, SUB), store=store).run()
    assert rerun.ran == ["sub"]


def test_a_checkpoint_of_an_older_conversation_is_thrown_away():
    store, _ = crashed_during("add")
    later = [{"role": "user", "content": "Hi"}, assistant(text("Hi."))]
    rerun = Hand([reply("end_turn", text("Done."))], tools=(ADD, SUB), store=store, messages=later).run()
    assert rerun.requests == [[*later, PROMPT]]
    assert rerun.landed()


def test_a_cancellation_between_crash_and_rerun_holds():
    store, _ = crashed_during("add")
    rerun = Hand([], tools=(ADD, SUB), store=store)
    rerun.cancel()
    rerun.run()
    assert rerun.requests == []
    assert rerun.ran == []
    assert rerun.outcome.status == "cancelled"
    assert rerun.landed()
