"""The embedded provider: no model, no network, no key, and it says so."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
import re
from typing import ClassVar

from copilot_admin.agent.llm.demo_script import next_move
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

MODEL = "rehearsal"
_WORD = re.compile(r"\s+\S*|\S+")


class DemoModel:
    """Plays a model deterministically, so that a copilot can be tried in all its features."""

    kind: ClassVar[str] = "rehearsal"
    label: ClassVar[str] = "Demo model (built in, no network)"
    samples: ClassVar[Mapping[str, ServerReply]] = {}

    def __init__(self, spec: ProviderSpec) -> None:
        self.spec = spec

    async def stream(self, call: ModelCall) -> AsyncGenerator[Delta, None]:
        """Streams the next move of the play, word by word."""
        move = next_move(call)
        if isinstance(move, ToolCall):
            yield move
            said, reason = move.arguments, "tool_calls"
        else:
            for word in _WORD.findall(move):
                await asyncio.sleep(0)  # a stream that never waits would starve all others
                yield TextDelta(word)
            said, reason = move, "stop"
        yield estimated_usage(call, written=len(said))
        yield Finish(reason)

    async def models(self) -> tuple[str, ...]:
        """The one model there is."""
        return (MODEL,)
