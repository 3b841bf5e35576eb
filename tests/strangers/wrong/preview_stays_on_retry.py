"""A terminal: text is written as it comes. What broke off is asked for again, and written behind it."""

import io

import anthropic

from harness import Outcome


class Terminal:
    def __init__(self, turn):
        self.turn, self.out = turn, io.StringIO()
        self.client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key, max_retries=0)

    def stream(self, messages):
        with self.client.messages.stream(
            model=self.turn.model,
            max_tokens=self.turn.max_tokens,
            system=self.turn.system,
            messages=messages,
        ) as stream:
            for text in stream.text_stream:
                self.out.write(text)
            reply = stream.get_final_message()
        if reply.stop_reason is None:
            raise ConnectionError("the stream ended early")
        return reply

    def ask(self, messages, attempts=3):
        try:
            return self.stream(messages)
        except (ConnectionError, anthropic.APIError):
            if attempts == 1:
                raise
            return self.ask(messages, attempts - 1)


def loop(turn):
    terminal, messages = Terminal(turn), list(turn.messages)
    try:
        reply = terminal.ask(messages)
    except (ConnectionError, anthropic.APIError) as error:
        return Outcome(status="failed", shown=[{"content": str(error), "is_error": True}], history=messages)
    content = [block.to_dict() for block in reply.content]
    return Outcome(
        status="completed" if reply.stop_reason == "end_turn" else "truncated",
        shown=[terminal.out.getvalue()],
        history=[*messages, {"role": "assistant", "content": content}],
    )
