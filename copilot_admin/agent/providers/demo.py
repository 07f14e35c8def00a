"""Built-in provider with prepared answers: no model, no network, no key."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
import re
from typing import ClassVar

from copilot_admin.agent.llm.demo_script import next_moves
from copilot_admin.agent.values.model_call import (
    Delta,
    Finish,
    ModelCall,
    ServerReply,
    TextDelta,
    ToolCall,
    estimated_usage,
)
from copilot_admin.agent.values.spec import ProviderSpec

MODEL = "demo"
_WORD = re.compile(r"\s+\S*|\S+")


class DemoModel:
    """Deterministic substitute for a model, which exercises all features of a copilot."""

    kind: ClassVar[str] = "demo"
    label: ClassVar[str] = "Demo model (built in, no network)"
    samples: ClassVar[Mapping[str, ServerReply]] = {}
    word_seconds: ClassVar[float] = 0.012  # 80 a second, about as fast as a hosted model

    def __init__(self, spec: ProviderSpec) -> None:
        self.spec = spec

    async def stream(self, call: ModelCall) -> AsyncGenerator[Delta, None]:
        """Stream the next message of the script, piece by piece."""
        written, reason = 0, "stop"
        for move in next_moves(call):
            match move:
                case TextDelta(text):
                    for word in _WORD.findall(text):
                        await asyncio.sleep(self.word_seconds)
                        yield TextDelta(word)
                    written += len(text)
                case ToolCall():
                    yield move
                    written += len(move.arguments)
                    reason = "tool_calls"
                case _:
                    yield move
        yield estimated_usage(call, written=written)
        yield Finish(reason)

    async def models(self) -> tuple[str, ...]:
        """Return the only model."""
        return (MODEL,)
