"""A chat behind one endpoint: the SDK's tool runner, and its answer as JSON. `PORT=3000 python chat.py`."""

import os

import uvicorn
from anthropic import AnthropicError, AsyncAnthropic, beta_async_tool
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

FINISHED = ("end_turn", "stop_sequence")
client = AsyncAnthropic()
conversations: dict = {}


@beta_async_tool
async def look_up(key: str = "") -> str:
    """Look something up."""
    return f"{key or 'It'} is in the second drawer."


async def turn(kept: list, prompt: str) -> tuple:
    """The last reply of the turn, and the conversation with it."""
    runner = client.beta.messages.tool_runner(
        model="claude-opus-4-6",
        max_tokens=4096,
        max_iterations=10,
        tools=[look_up],
        messages=[*kept, {"role": "user", "content": prompt}],
    )
    last = await runner.until_done()
    return last, runner._params["messages"]


async def chat(request: Request) -> JSONResponse:
    asked = await request.json()
    kept = conversations.get(asked["conversation"], [])
    try:
        last, messages = await turn(kept, asked["message"])
    except AnthropicError as error:
        return JSONResponse({"error": type(error).__name__}, status_code=502)
    text = "\n\n".join(block.text for block in last.content if block.type == "text")
    if last.stop_reason not in FINISHED:
        return JSONResponse({"reply": text, "unfinished": last.stop_reason})
    if text.strip() and not any(block.type == "tool_use" for block in last.content):
        conversations[asked["conversation"]] = messages
    return JSONResponse({"reply": text})


app = Starlette(routes=[Route("/api/chat", chat, methods=["POST"])])

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning")
