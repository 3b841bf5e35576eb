"""Recordings with a fault each, and what has to be found in them."""

from __future__ import annotations

from harness.cassettes.model import Cassette
from tests.cassettes.recordings import (
    ASK,
    CALLED,
    DONE,
    LONG,
    SENT_BACK,
    TOOL,
    answer,
    assistant,
    call,
    cassette,
    recorded,
    refused,
    reply,
    request,
    result,
    thinking,
    user,
)

SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}}
SEARCHING = {"type": "web_search_20250305", "name": "web_search"}
CONTINUED = {"type": "continue", "previous_message_id": "msg_1"}

FAULTS: dict[str, tuple[Cassette, dict[str, str]]] = {
    "thinking is dropped": (
        recorded(([ASK], CALLED), ([ASK, assistant("Looking.", call()), user(result())], DONE)),
        {"HIST-1": "fail 20", "HIST-4": "fail 20"},
    ),
    "a text is changed": (
        recorded(([ASK], CALLED), ([ASK, assistant(thinking(), "Looking", call()), user(result())], DONE)),
        {"HIST-1": "fail 20"},
    ),
    "a call has another input": (
        recorded(
            ([ASK], CALLED), ([ASK, assistant(thinking(), "Looking.", call(a=1)), user(result())], DONE)
        ),
        {"HIST-1": "fail 20"},
    ),
    "the prompt is changed": (
        recorded(
            ([ASK], CALLED), ([user("What is a, and what has it been?"), SENT_BACK, user(result())], DONE)
        ),
        {"HIST-2": "fail 20"},
    ),
    "a result is missing": (
        recorded(
            ([ASK], reply("tool_use", call(), call("toolu_2"))),
            ([ASK, assistant(call(), call("toolu_2")), user(result())], DONE),
        ),
        {"TOOL-2": "fail 20"},
    ),
    "no result goes back": (
        recorded(([ASK], CALLED), ([ASK, SENT_BACK, user("Go on.")], DONE)),
        {"TOOL-1": "fail 20"},
    ),
    "text stands before a result": (
        recorded(([ASK], CALLED), ([ASK, SENT_BACK, user("Here:", result())], DONE)),
        {"TOOL-3": "fail 20"},
    ),
    "an orphan was refused": (
        recorded(
            (
                [ASK, user(result())],
                refused(400, "invalid_request_error", "messages.0.content.1: unexpected `tool_use_id`"),
            )
        ),
        {"HIST-3": "fail 10"},
    ),
    "a pause is answered by words": (
        recorded(
            ([ASK], reply("pause_turn", "Searching.")),
            ([ASK, assistant("Searching."), user("continue")], DONE),
        ),
        {"PAUSE-2": "fail 20"},
    ),
    "a pause is asked again": (
        recorded(([ASK], reply("pause_turn", "Searching.")), ([ASK], DONE)),
        {"PAUSE-2": "fail 20", "HIST-1": "fail 20"},
    ),
    "a refusal is sent again": (
        recorded(([ASK], reply("refusal")), ([ASK], DONE)),
        {"REFUSE-1": "fail 20"},
    ),
    "a refused reply is kept": (
        recorded(
            ([ASK], reply("refusal", "I will not say anything about this.")),
            ([ASK, assistant("I will not say anything about this."), user("Why?")], DONE),
        ),
        {"REFUSE-4": "fail 20"},
    ),
    "an empty reply is kept": (
        recorded(([ASK], reply("end_turn")), ([ASK, assistant(), user("Hello?")], DONE)),
        {"END-2": "fail 20", "HIST-6": "warn 20"},
    ),
    "a call that was cut is kept": (
        recorded(
            ([ASK], reply("max_tokens", LONG, call())),
            ([ASK, assistant(LONG, call()), user(result(), "Go on.")], DONE),
        ),
        {"TRUNC-4": "fail 20"},
    ),
    "citations are dropped in the next turn": (
        recorded(
            ([ASK], reply("end_turn", {"type": "text", "text": LONG, "citations": [{"url": "x"}]})),
            ([ASK, assistant(LONG), user("And b?")], DONE),
        ),
        {"HIST-1": "fail 20"},
    ),
    "somebody made up a call": (
        recorded(
            ([ASK], CALLED),
            ([ASK, SENT_BACK, user(result()), assistant(call("auto_1")), user(result("auto_1"))], DONE),
        ),
        {"HIST-1": "warn 20"},
    ),
    "a refused request is sent again": (
        cassette(
            *(
                (
                    request([ASK], {"x-stainless-retry-count": str(count)}),
                    answer(refused(400, "invalid_request_error", "max_tokens: too many")),
                )
                for count in range(2)
            )
        ),
        {"FAULT-2": "fail 20"},
    ),
    "several blocks become a string": (
        recorded(
            ([ASK], reply("end_turn", LONG, "And more of it.")),
            ([ASK, {"role": "assistant", "content": f"{LONG}And more of it."}, user("And b?")], DONE),
        ),
        {"HIST-1": "fail 20", "HIST-5": "fail 20"},
    ),
    "a call of a tool that does not exist succeeds": (
        recorded(
            ([ASK], reply("tool_use", call(name="nothing"))),
            ([ASK, assistant(call(name="nothing")), user(result())], DONE),
        ),
        {"TOOL-5": "fail 20"},
    ),
    "a call of the server gets a result": (
        recorded(
            ([ASK], reply("pause_turn", SEARCH)),
            ([ASK, assistant(SEARCH), user(result("srvtoolu_1"))], DONE),
        ),
        {"TOOL-7": "fail 20", "PAUSE-2": "fail 20"},
    ),
    "words stand beside results while the server is at work": (
        recorded(
            ([ASK], reply("tool_use", SEARCH, call())),
            ([ASK, assistant(SEARCH, call()), user(result(), "Go on.")], DONE),
        ),
        {"TOOL-8": "fail 20"},
    ),
    "it asks again and again without a call": (
        recorded(
            *(
                (
                    [ASK, *(each for n in range(number) for each in (assistant(f"{n} {LONG}"), user("So?")))],
                    reply("tool_use", f"{number} {LONG}", identifier=f"msg_{number}"),
                )
                for number in range(6)
            )
        ),
        {"TOOL-10": "fail 60"},
    ),
    "a pause is resumed without its tools": (
        cassette(
            (request([ASK], tools=[TOOL, SEARCHING]), answer(reply("pause_turn", SEARCH))),
            (request([ASK, assistant(SEARCH)], tools=[TOOL]), answer(DONE)),
        ),
        {"PAUSE-3": "fail 20", "HIST-7": "warn 20"},
    ),
    "pauses have no end": (
        recorded(
            *(
                (
                    [ASK, assistant(*(f"{n} {LONG}" for n in range(number)))][: 1 + bool(number)],
                    reply("pause_turn", f"{number} {LONG}", identifier=f"msg_{number}"),
                )
                for number in range(61)
            )
        ),
        {"PAUSE-4": "warn 610"},
    ),
    "a cut reply goes back as the beginning of the next": (
        recorded(([ASK], reply("max_tokens", LONG)), ([ASK, assistant(LONG)], DONE)),
        {"TRUNC-2": "fail 20"},
    ),
    "a full window is sent again": (
        recorded(([ASK], reply("model_context_window_exceeded", LONG)), ([ASK], DONE)),
        {"WINDOW-1": "fail 20"},
    ),
    "a prompt that is too long gets longer": (
        recorded(
            ([ASK], refused(400, "invalid_request_error", "prompt is too long: 210000 tokens")),
            ([user("And more."), assistant("Yes."), ASK], DONE),
        ),
        {"FAULT-10": "fail 20"},
    ),
    "a thread is told what it knows": (
        cassette(
            (request([ASK], tools=[TOOL], thread={"type": "create"}), answer(CALLED)),
            (request([SENT_BACK, user(result())], thread=CONTINUED), answer(DONE)),
        ),
        {"THREAD-1": "fail 20"},
    ),
    "what was streamed is put together wrongly": (
        cassette(
            (request([ASK], tools=[TOOL]), answer(reply("tool_use", call(who="Jo")), stream=True)),
            (request([ASK, assistant(call(who="J")), user(result())], tools=[TOOL]), answer(DONE)),
        ),
        {"STREAM-1": "fail 20", "HIST-1": "fail 20"},
    ),
    "another model after the call": (
        cassette(
            (request([ASK], tools=[TOOL]), answer(CALLED)),
            (request([ASK, SENT_BACK, user(result())], tools=[TOOL], model="claude-x"), answer(DONE)),
        ),
        {"HIST-7": "warn 20"},
    ),
}
