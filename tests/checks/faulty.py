"""A provider that misbehaves, and a loop that asks it, in a few words."""

from __future__ import annotations

from typing import Any

from harness.history import Answered, Broken
from tests.checks.histories import Story, text, user

HI = user("Hi")


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
