"""Keeps what the model says where it ended well; what the user says is always kept."""

import anthropic

from harness import Outcome

STATUS = {"end_turn": "completed", "stop_sequence": "completed", "refusal": "refused"}


def loop(turn):
    client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)
    history = list(turn.messages)
    reply = client.messages.create(
        model=turn.model, max_tokens=turn.max_tokens, system=turn.system, messages=history
    )
    client.close()
    status = STATUS.get(reply.stop_reason, "truncated")
    if status == "refused":
        return Outcome(status=status, shown=["The model declined to answer."], history=history)
    said = "".join(block.text for block in reply.content if block.type == "text")
    if reply.content:
        history.append({"role": "assistant", "content": [block.to_dict() for block in reply.content]})
    return Outcome(status=status, shown=[said], history=history)
