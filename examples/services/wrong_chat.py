"""The same chat with the same loop. Whatever its last reply was, its users get it as an answer."""

import os

import chat
import uvicorn

if __name__ == "__main__":
    chat.FINISHED = ("end_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded")
    uvicorn.run(chat.app, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning")
