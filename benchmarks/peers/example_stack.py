"""A copilot as OpenBB's public examples are written: FastAPI, sse-starlette, openai, openbb-ai."""

from collections.abc import AsyncGenerator
import os
from typing import Any

from fastapi import FastAPI
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageParam
from openbb_ai import QueryRequest, message_chunk
from sse_starlette import EventSourceResponse

app = FastAPI()
# The examples make a client for every request. One for all is faster, which is the fairer comparison.
client = AsyncOpenAI(base_url=os.environ.get("UPSTREAM", ""), api_key="none")


@app.post("/v1/query")
async def query(request: QueryRequest) -> EventSourceResponse:
    """Answer with the words of the model."""
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": "You are a helpful financial assistant."}
    ]
    for message in request.messages:
        if message.role == "human" and isinstance(message.content, str):
            messages.append({"role": "user", "content": message.content})
        elif message.role == "ai" and isinstance(message.content, str):
            messages.append({"role": "assistant", "content": message.content})

    async def execution_loop() -> AsyncGenerator[dict[str, Any], None]:
        stream = await client.chat.completions.create(
            model="scripted", messages=messages, stream=True
        )
        async for event in stream:
            if event.choices and (text := event.choices[0].delta.content):
                yield message_chunk(text).model_dump()

    return EventSourceResponse(content=execution_loop(), media_type="text/event-stream")
