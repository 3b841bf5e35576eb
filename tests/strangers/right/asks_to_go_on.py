"""Goes on after a cut with a message of the user, as it declares. Runs calls in threads."""

from concurrent.futures import ThreadPoolExecutor

import anthropic

from harness import Outcome, ToolError


class Writer:
    policies = {"on_max_tokens": "continue"}

    def __call__(self, turn):
        client, container = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key), anthropic.omit
        messages, written, cuts = list(turn.messages), "", 0
        for _ in range(turn.limits.max_iterations or 20):
            reply = client.messages.create(
                model=turn.model,
                max_tokens=turn.max_tokens,
                system=turn.system,
                messages=messages,
                tools=[
                    dict(name=t.name, description=t.description, input_schema=t.input_schema)
                    for t in turn.tools
                ],
                container=container,
            )
            container = reply.container.id if reply.container else container
            content = [b for b in reply.content if b.type != "text" or b.text.strip()]
            calls = [b for b in content if b.type == "tool_use"]
            text = "".join(b.text for b in content if b.type == "text")
            match reply.stop_reason:
                case "pause_turn":
                    messages.append({"role": "assistant", "content": content})
                case "tool_use" if calls:
                    with ThreadPoolExecutor() as pool:
                        results = list(pool.map(lambda call: self.use(turn, call), calls))
                    messages.append({"role": "assistant", "content": content})
                    messages.append({"role": "user", "content": results})
                case "end_turn" | "stop_sequence":
                    kept = [b for b in content if b.type != "tool_use"]
                    messages += [{"role": "assistant", "content": kept}] if kept else []
                    whole = written + text
                    return Outcome(status="completed", shown=[whole] if whole else [], history=messages)
                case "max_tokens" if cuts < 2 and text and not calls:
                    cuts, written = cuts + 1, written + text
                    messages.append({"role": "assistant", "content": content})
                    messages.append({"role": "user", "content": "Go on exactly where you were cut off."})
                case reason:
                    status = {"refusal": "refused", "max_tokens": "truncated"}.get(reason, "failed")
                    if reason == "model_context_window_exceeded":
                        status = "truncated"
                    return Outcome(
                        status=status,
                        shown=[f"(stopped: {reason})"],
                        detail=reason,
                        history=turn.messages[:-1],
                    )
        return Outcome(status="capped", shown=["(cap)"], history=turn.messages[:-1])

    def use(self, turn, call):
        result = {"type": "tool_result", "tool_use_id": call.id}
        tool = next((t for t in turn.tools if t.name == call.name), None)
        if tool is None:
            return result | {"content": "unknown tool", "is_error": True}
        try:
            return result | {"content": tool.run(call.input)}
        except ToolError as e:
            return result | {"content": e.content or "failed", "is_error": True}


loop = Writer()
