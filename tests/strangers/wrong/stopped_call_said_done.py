"""Answers the calls that a cancellation kept from running with the OK of those that ran."""

import anthropic

from harness import Outcome, ToolError

BAD_ENDS = {"max_tokens": "truncated", "model_context_window_exceeded": "truncated", "refusal": "refused"}


def conversation(turn, client, messages):
    specs = [dict(name=t.name, description=t.description, input_schema=t.input_schema) for t in turn.tools]
    params = dict(model=turn.model, max_tokens=turn.max_tokens, system=turn.system, tools=specs)
    for _ in range(turn.limits.max_iterations or 25):
        if turn.cancelled():
            yield "cancelled", None
            return
        if turn.stream:
            with client.beta.messages.stream(messages=messages, **params) as stream:
                reply = stream.get_final_message()
        else:
            reply = client.messages.create(messages=messages, **params)
        if reply.container is not None:
            params["container"] = reply.container.id
        yield "reply", reply
        if reply.stop_reason is None:
            yield "failed", "the connection was lost"
            return
        content = [b for b in reply.content if b.type != "text" or b.text.strip()]
        if reply.stop_reason in {"pause_turn", "compaction"}:
            messages.append({"role": "assistant", "content": content})
        elif reply.stop_reason == "tool_use" and any(b.type == "tool_use" for b in content):
            results = []
            for call in (b for b in content if b.type == "tool_use"):
                if turn.cancelled():
                    results.append({"type": "tool_result", "tool_use_id": call.id, "content": "OK"})
                else:
                    results.append(execute(turn, call))
            messages += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
        elif reply.stop_reason in ("end_turn", "stop_sequence") and not any(
            b.type == "tool_use" for b in content
        ):
            if content:
                messages.append({"role": "assistant", "content": content})
            only_thoughts = content and all(b.type in ("thinking", "redacted_thinking") for b in content)
            yield ("failed", "no answer") if only_thoughts else ("completed", None)
            return
        else:
            yield BAD_ENDS.get(reply.stop_reason, "failed"), reply.stop_reason
            return
    yield "capped", None


def execute(turn, call):
    for tool in turn.tools:
        if tool.name == call.name:
            break
    else:
        return {"type": "tool_result", "tool_use_id": call.id, "content": "no such tool", "is_error": True}
    try:
        return {"type": "tool_result", "tool_use_id": call.id, "content": tool.run(call.input)}
    except ToolError as problem:
        return {
            "type": "tool_result",
            "tool_use_id": call.id,
            "content": problem.content or "error",
            "is_error": True,
        }
    except Exception as problem:
        return {
            "type": "tool_result",
            "tool_use_id": call.id,
            "content": f"error: {problem!r}",
            "is_error": True,
        }


def loop(turn):
    messages, shown, tokens, count = list(turn.messages), [], dict(input_tokens=0, output_tokens=0), 0
    status, detail = "failed", None
    try:
        with anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key) as client:
            for kind, what in conversation(turn, client, messages):
                if kind != "reply":
                    status, detail = kind, what
                    continue
                if what.stop_reason:
                    count += 1
                tokens["input_tokens"] += what.usage.input_tokens
                tokens["output_tokens"] += what.usage.output_tokens
                text = "".join(b.text for b in what.content if b.type == "text")
                if text.strip() and what.stop_reason not in ("refusal", None):
                    shown.append(text)
    except Exception as error:
        detail = str(error)
    turn.store.pop(turn.cancel_key, None)
    if status not in ("completed", "cancelled"):
        messages = turn.messages[:-1]
    if status != "completed":
        shown.append({"role": "assistant", "content": f"Sorry: {status} {detail or ''}", "is_error": True})
    return Outcome(
        status=status, shown=shown, history=messages, detail=detail, usage=dict(tokens, iterations=count)
    )
