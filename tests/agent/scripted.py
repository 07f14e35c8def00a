"""A provider that plays a script, and fails when the engine leaves it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
import json
from typing import ClassVar, Self

from copilot_admin.agent.values.model_call import (
    Alive,
    Delta,
    Finish,
    ModelCall,
    TextDelta,
    ToolCall,
)
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.errors import RunError
from protocol.json import Json


@dataclass(frozen=True, slots=True)
class Stall:
    """The provider says nothing more until it is closed."""


@dataclass(frozen=True, slots=True)
class Step:
    """What the provider does when it is asked once: deltas in order, an error, or a stall."""

    actions: tuple[Delta | Alive | RunError | Stall, ...]


def text(*pieces: str, reason: str | None = "stop") -> Step:
    """An answer in pieces; `reason` None: the stream is cut after them."""
    return Step((*map(TextDelta, pieces), Finish(reason)))


def call(
    tool: str, /, *, call_id: str = "call-1", before: Sequence[str] = (), **arguments: Json
) -> Step:
    """One tool call with these arguments, after some words if there are any."""
    wanted = ToolCall(id=call_id, name=tool, arguments=json.dumps(arguments))
    return Step((*map(TextDelta, before), wanted, Finish("tool_calls")))


def broken(error: RunError, *pieces: str) -> Step:
    """An error after some words."""
    return Step((*map(TextDelta, pieces), error))


def stalled(*pieces: str) -> Step:
    """Silence after some words."""
    return Step((*map(TextDelta, pieces), Stall()))


class ScriptedProvider:
    """Plays one step each time it is asked; as a context it checks that all were played."""

    kind: ClassVar[str] = "scripted"
    label: ClassVar[str] = "Scripted"

    def __init__(self, script: Sequence[Step], spec: ProviderSpec | None = None) -> None:
        self.calls: list[ModelCall] = []
        self.open = 0  # streams that were begun and not yet closed
        self._script = tuple(script)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.assert_played()

    def assert_played(self) -> None:
        """Fails if a step of the script was not used, or a stream is still open."""
        unused = self._script[len(self.calls) :]
        assert not unused, f"the engine did not ask for {unused}"
        assert self.open == 0, f"{self.open} streams are still open"

    async def stream(self, call: ModelCall) -> AsyncGenerator[Delta | Alive, None]:
        """Plays the next step; asking once too often is a failure of the test."""
        assert len(self.calls) < len(self._script), f"the engine asked once too often: {call}"
        step = self._script[len(self.calls)]
        self.calls.append(call)
        self.open += 1
        try:
            for action in step.actions:
                await asyncio.sleep(0)
                match action:
                    case RunError():
                        raise action
                    case Stall():
                        await asyncio.Event().wait()
                    case _:
                        yield action
        finally:
            self.open -= 1

    async def models(self) -> tuple[str, ...]:
        """The one model it plays."""
        return ("scripted",)
