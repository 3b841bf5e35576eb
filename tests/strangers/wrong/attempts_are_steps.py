"""Counts every attempt at a request as a step."""

import time

import anthropic

from harness import Outcome

AGAIN = (408, 409, 429, 500, 502, 503, 504, 529)


class NoStepsLeft(Exception):
    pass


def ask(client, turn, left, **params):
    delay = 0.2
    for attempt in range(4):
        if not left:
            raise NoStepsLeft
        left.pop()
        try:
            if not turn.stream:
                return client.messages.create(**params)
            with client.beta.messages.stream(**params) as stream:
                reply = stream.get_final_message()
            if reply.stop_reason is None:
                raise ConnectionError("the stream ended early")
            return reply
        except anthropic.APIStatusError as error:
            kind = (error.body or {}).get("error", {}).get("type") if isinstance(error.body, dict) else None
            if error.status_code not in AGAIN and kind not in (
                "overloaded_error",
                "api_error",
                "rate_limit_error",
            ):
                raise
            if attempt == 3 or error.response.headers.get("x-should-retry") == "false":
                raise
            wait = float(error.response.headers.get("retry-after") or delay)
            if wait > 20:
                raise
        except (anthropic.APIConnectionError, ConnectionError):
            if attempt == 3:
                raise
            wait = delay
        time.sleep(wait)
        delay *= 2
    return None


def loop(turn):
    messages = list(turn.messages)
    params = dict(
        model=turn.model,
        max_tokens=turn.max_tokens,
        system=turn.system,
        tools=[
            {"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in turn.tools
        ],
    )
    tools = {t.name: t for t in turn.tools}
    with anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key, max_retries=0) as client:
        left = [None] * (turn.limits.max_iterations or 30)
        while left:
            try:
                reply = ask(client, turn, left, messages=messages, **params)
            except NoStepsLeft:
                break
            except Exception as error:
                turn.report(error)
                return Outcome(
                    status="failed",
                    shown=[{"content": "The service did not answer.", "is_error": True}],
                    history=turn.messages[:-1],
                    detail=str(error),
                )
            if reply.container:
                params["container"] = reply.container.id
            content = [b for b in reply.content if b.type != "text" or b.text.strip()]
            calls = [b for b in content if b.type == "tool_use"]
            text = "".join(b.text for b in content if b.type == "text")
            if reply.stop_reason in ("pause_turn", "compaction"):
                messages.append({"role": "assistant", "content": content})
            elif reply.stop_reason == "tool_use" and calls:
                messages.append({"role": "assistant", "content": content})
                results = []
                for c in calls:
                    entry = {"type": "tool_result", "tool_use_id": c.id}
                    try:
                        entry["content"] = tools[c.name].run(c.input) if c.name in tools else "unknown tool"
                        if c.name not in tools:
                            entry["is_error"] = True
                    except Exception as e:
                        entry["content"], entry["is_error"] = (
                            (getattr(e, "content", None) or str(e) or repr(e)),
                            True,
                        )
                    results.append(entry)
                messages.append({"role": "user", "content": results})
            elif reply.stop_reason in ("end_turn", "stop_sequence") and not calls and (text or not content):
                if content:
                    messages.append({"role": "assistant", "content": content})
                return Outcome(status="completed", shown=[text] if text else [], history=messages)
            elif reply.stop_reason == "refusal":
                return Outcome(status="refused", shown=["The model declined."], history=turn.messages[:-1])
            elif reply.stop_reason in ("max_tokens", "model_context_window_exceeded"):
                turn.report(f"cut: {reply.stop_reason}")
                return Outcome(
                    status="truncated",
                    shown=[{"content": text or "cut", "is_error": True}],
                    history=turn.messages[:-1],
                )
            else:
                turn.report(f"stop reason {reply.stop_reason}")
                return Outcome(
                    status="failed",
                    shown=[],
                    history=turn.messages[:-1],
                    detail=f"stop reason {reply.stop_reason}",
                )
    turn.report("too many steps")
    return Outcome(
        status="capped", shown=[{"content": "Too many steps.", "is_error": True}], history=turn.messages[:-1]
    )
