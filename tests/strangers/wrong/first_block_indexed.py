"""The answer is `content[0].text`, as in the quickstart."""

import anthropic

from harness import Outcome, ToolError


def loop(turn):
    client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)
    tools = {t.name: t for t in turn.tools}
    messages = turn.messages[:]
    container = None
    for _ in range(turn.limits.max_iterations or 20):
        kwargs = {"container": container} if container else {}
        response = client.messages.create(
            model=turn.model,
            max_tokens=turn.max_tokens,
            system=turn.system,
            messages=messages,
            tools=[
                {"name": t.name, "description": t.description, "input_schema": t.input_schema}
                for t in turn.tools
            ],
            **kwargs,
        )
        if response.container:
            container = response.container.id
        if response.stop_reason in ("tool_use", "pause_turn"):
            content = [b.to_dict() for b in response.content if b.type != "text" or b.text.strip()]
            messages.append({"role": "assistant", "content": content})
            results = []
            for b in response.content:
                if b.type != "tool_use":
                    continue
                try:
                    results.append(
                        {"type": "tool_result", "tool_use_id": b.id, "content": tools[b.name].run(b.input)}
                    )
                except (ToolError, KeyError) as e:
                    results.append(
                        {
                            "type": "tool_result",
                            "tool_use_id": b.id,
                            "content": str(e) or "failed",
                            "is_error": True,
                        }
                    )
            if results:
                messages.append({"role": "user", "content": results})
            elif response.stop_reason == "tool_use":
                raise RuntimeError("nothing was called")
            continue
        if response.stop_reason not in ("end_turn", "stop_sequence"):
            return Outcome(
                status={"refusal": "refused", "max_tokens": "truncated"}.get(response.stop_reason, "failed"),
                shown=[f"(no answer: {response.stop_reason})"],
                detail=response.stop_reason,
                history=turn.messages[:-1],
            )
        answer = response.content[0].text
        messages.append({"role": "assistant", "content": answer})
        return Outcome(status="completed", shown=[answer], history=messages)
    return Outcome(status="capped", shown=["(too many steps)"], history=turn.messages[:-1])
