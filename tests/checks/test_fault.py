"""FAULT on histories written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from harness.history import Answered, Broken
from tests.checks.histories import Story, assistant, call, result, text, thinking, user

HI = user("Hi")
LOOKED = [HI, assistant([call("toolu_1")]), user([result("toolu_1")])]


class Faulty(Story):
    """A story with a provider that misbehaves."""

    def fails(self, status: int = 529, message: str = "Overloaded", **headers: str) -> Faulty:
        """The last request gets an error."""
        self.answer(
            "fault",
            status,
            body={"type": "error", "error": {"type": "api_error", "message": message}},
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )
        return self

    def breaks(
        self,
        content: list[Any],
        how: str = "error",
        *,
        last: str = "content_block_delta",
        by: str = "provider",
    ) -> Faulty:
        """The stream of the last answer breaks off."""
        body = {"role": "assistant", "content": content, "stop_reason": "end_turn"}
        self._add(Answered(request=self._request, kind="reply", body=body, stream=True))
        self._add(Broken(request=self._request, by=by, how=how, last=last))
        return self


def asked(messages: list[Any] | None = None, **declaration: Any) -> Faulty:
    story = Faulty(**declaration)
    story.turn()
    story.ask(messages or [HI])
    return story


def retried(story: Faulty, messages: list[Any] | None = None, **body: Any) -> Faulty:
    story.ask(messages or [HI], **body)
    story.reply([text("Hello.")])
    story.end(shown=["Hello."])
    return story


@pytest.mark.parametrize(
    ("headers", "waits", "kinds"),
    [
        ({"retry_after": "1"}, 1.0, ["held"]),
        ({"retry_after": "1"}, 0.5, ["broken"]),
        ({"retry_after_ms": "300"}, 0.3, ["held"]),
        ({"retry_after_ms": "300"}, 0.1, ["broken"]),
        ({"retry_after_ms": "300", "retry_after": "1"}, 0.3, ["held"]),
        ({"retry_after": "Wed, 21 Oct 2026 07:28:00 GMT"}, 0.0, []),
        ({}, 0.0, []),
    ],
)
def test_the_next_attempt_waits_as_long_as_was_asked(headers: dict, waits: float, kinds: list) -> None:
    story = asked().fails(429, **headers)
    story.wait(waits)
    assert retried(story).kinds("FAULT-1") == kinds


def test_the_undocumented_header_is_one_that_should_be_kept() -> None:
    [finding] = retried(asked().fails(529, retry_after_ms="300")).check("FAULT-1")
    assert finding.level == "SHOULD"


def test_giving_up_and_asking_another_model_keep_the_wait() -> None:
    assert asked().fails(429, retry_after="9").end("failed").kinds("FAULT-1") == ["held"]
    story = Faulty()
    story.turn()
    story.ask([HI], model="large")
    assert retried(story.fails(429, retry_after="9"), model="small").kinds("FAULT-1") == ["held"]


@pytest.mark.parametrize("status", [400, 403, 404, 413])
def test_what_is_refused_for_good_and_sent_again_is_found(status: int) -> None:
    [finding] = retried(asked().fails(status)).check("FAULT-2")
    assert (finding.kind, finding.request, finding.level) == ("broken", 2, None)


def test_a_request_that_was_mended_is_another() -> None:
    assert retried(asked().fails(400), max_tokens=99).kinds("FAULT-2") == ["held"]
    assert asked().fails(400).end("failed").kinds("FAULT-2") == ["held"]


def test_a_new_token_may_be_tried_once() -> None:
    assert retried(asked().fails(401)).kinds("FAULT-2") == ["note"]
    twice = asked().fails(401)
    twice.ask([HI])
    assert "broken" in retried(twice.fails(401)).kinds("FAULT-2")


def test_passing_errors_are_tried_again_rightly() -> None:
    assert retried(asked().fails(529)).kinds("FAULT-2") == []
    [finding] = retried(asked().fails(429, x_should_retry="false")).check("FAULT-2")
    assert finding.level == "SHOULD"


def test_a_retry_is_the_same_conversation() -> None:
    assert retried(asked().fails()).kinds("FAULT-3") == ["held"]
    assert asked().fails().end("failed").kinds("FAULT-3") == ["held"]


@pytest.mark.parametrize(
    "more", [HI, user("The last request failed."), assistant([text("Half")])], ids=["again", "note", "half"]
)
def test_a_message_that_a_retry_adds_is_found(more: dict) -> None:
    [finding] = retried(asked().fails(), [HI, more]).check("FAULT-3")
    assert finding.kind == "broken"


def looked() -> Faulty:
    story = asked()
    story.reply([call("toolu_1")], "tool_use")
    story.tool()
    story.ask(LOOKED)
    return story


def test_a_retry_that_starts_the_turn_anew_is_found() -> None:
    [finding] = retried(looked().fails()).check("FAULT-3")
    assert "starts the turn anew" in finding.happened


def test_a_tool_that_a_retry_runs_again_is_found() -> None:
    story = looked().fails()
    story.tool()
    [finding] = retried(story, LOOKED).check("FAULT-3")
    assert "ran once more" in finding.happened
    assert retried(looked().fails(), LOOKED).kinds("FAULT-3") == ["held"]


def test_a_broken_stream_may_be_continued_as_documented() -> None:
    messages = [HI, assistant([text("Hel")]), user("You were interrupted. Please go on.")]
    [finding] = retried(asked().breaks([text("Hello.")]), messages).check("FAULT-3")
    assert finding.level == "SHOULD"
    declared = asked(policies={"on_broken_stream": "continue"}).breaks([text("Hello.")])
    assert retried(declared, messages).kinds("FAULT-3") == ["held"]


@pytest.mark.parametrize(("clause", "how"), [("FAULT-4", "error"), ("FAULT-5", "end"), ("FAULT-5", "reset")])
def test_a_broken_stream_is_no_answer(clause: str, how: str) -> None:
    half = [text("Hello to all of you who came.")]
    assert retried(asked().breaks(half, how)).kinds(clause) == ["held"]
    assert asked().breaks(half, how).end("failed").kinds(clause) == ["held"]
    assert asked().breaks(half, how).raises("APIError").kinds(clause) == ["held"]
    [finding] = asked().breaks(half, how).end(shown=["Hello to all of you"]).check(clause)
    assert finding.kind == "broken"
    assert asked().breaks(half, how).returns(None).kinds(clause) in (["broken"], ["unclear"])


def test_what_broke_off_behind_its_stop_reason_was_whole() -> None:
    story = asked().breaks([text("Hello.")], "close", last="message_delta").end(shown=["Hello."])
    assert story.kinds("FAULT-5") == []
    assert story.kinds("FAULT-9") == []


def test_a_stream_that_the_loop_left_is_no_fault_of_the_provider() -> None:
    story = asked().breaks([text("Hello.")], "", by="client").end(shown=["Hel"])
    assert story.kinds("FAULT-5") == []


def test_a_call_of_a_broken_stream_does_not_run() -> None:
    assert asked().breaks([call("toolu_1")]).end("failed").kinds("FAULT-6") == ["held"]
    story = asked().breaks([call("toolu_1")])
    story.tool()
    [finding] = story.end("failed").check("FAULT-6")
    assert finding.kind == "broken"
    assert finding.evidence == "hook"


def next_turn(kept: list[Any], lost: list[Any]) -> Faulty:
    story = asked().breaks(lost)
    story.end("failed")
    story.turn("More")
    story.ask([HI, *kept, user("More")])
    story.reply([text("Yes?")])
    story.end()
    return story


@pytest.mark.parametrize(
    ("lost", "kept"),
    [
        (text("Hello there."), text("Hello")),
        (thinking("Let me see."), thinking("Let me", "")),
        (call("toolu_1", value={"a": 1}), call("toolu_1")),
    ],
)
def test_a_part_that_is_kept_as_if_whole_is_found(lost: dict, kept: dict) -> None:
    [finding] = next_turn([assistant([kept])], [lost]).check("FAULT-7")
    assert finding.kind == "broken"


def test_a_part_may_be_dropped_or_marked() -> None:
    lost = [text("Hello there.")]
    assert next_turn([], lost).kinds("FAULT-7") == ["held"]
    marked = [assistant([text("Hello")]), user("[The reply was cut off.]")]
    assert next_turn(marked, lost).kinds("FAULT-7") == ["held"]
    assert next_turn([assistant([text("Hello [cut off]")])], lost).kinds("FAULT-7") == ["held"]


def silent(wait: float, **limits: float) -> Faulty:
    story = Faulty()
    story.turn(**limits)
    story.ask([HI])
    story.breaks([text("Hello.")], "silence")
    story.wait(wait)
    return story


def test_silence_ends_with_the_wall_clock() -> None:
    assert silent(1.0, wall_clock=1.0).end("capped").kinds("FAULT-8") == ["held"]
    assert silent(4.0, wall_clock=1.0).end("capped").kinds("FAULT-8") == ["broken"]
    assert silent(4.0, wall_clock=1.0).overran(4).kinds("FAULT-8") == ["broken"]
    assert silent(4.0).end("failed").kinds("FAULT-8") == []


def test_a_failed_turn_says_so() -> None:
    assert asked().fails(400).end("failed").kinds("FAULT-9") == ["held"]
    assert asked().fails(400).raises("BadRequestError").kinds("FAULT-9") == ["held"]
    assert asked().fails(400).overran().kinds("FAULT-9") == ["broken"]
    [finding] = asked().fails(529).end(shown=[]).check("FAULT-9")
    assert (finding.kind, finding.level) == ("broken", None)


def test_a_failure_under_another_name_should_not_be() -> None:
    [finding] = asked().fails(400).end("truncated").check("FAULT-9")
    assert (finding.kind, finding.level) == ("broken", "SHOULD")


LONG = "prompt is too long: 210000 tokens > 200000 maximum"


def too_long(*later: list[Any], first: list[Any]) -> Faulty:
    story = asked(first).fails(400, LONG)
    for messages in later[:-1]:
        story.ask(messages)
        story.fails(400, LONG)
    return retried(story, later[-1])


def test_what_is_too_long_gets_shorter() -> None:
    long = [user("Hi, " * 50)]
    assert too_long([HI], first=long).kinds("FAULT-10") == ["held"]
    assert too_long([*long, user("Be brief.")], first=long).kinds("FAULT-10") == ["broken"]
    assert asked(long).fails(400, LONG).end("failed").kinds("FAULT-10") == ["held"]
    assert asked(long).fails(400, "bad").end("failed").kinds("FAULT-10") == []


def test_getting_shorter_without_end_is_found() -> None:
    steps = [[user("Hi, " * count)] for count in (50, 49, 48, 47, 46, 45)]
    assert "broken" in too_long(*steps[1:], first=steps[0]).kinds("FAULT-10")
