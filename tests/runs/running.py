"""A run in memory: a store that only notes, an agent that plays a script, a clock that jumps."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from copilot_admin.copilots.callers import Caller
from copilot_admin.copilots.live import Answerer, LiveCopilot
from copilot_admin.ids import Ids
from copilot_admin.models import Logging, Outcome
from copilot_admin.pricing.cost import UNKNOWN_COST, Cost
from copilot_admin.runs import run as run_task
from copilot_admin.runs.open_run import frames, open_run
from copilot_admin.runs.query_context import AdmittedQuery
from copilot_admin.runs.run import ActiveRun
from copilot_admin.transcripts.matching.requests import RunStart
from copilot_admin.transcripts.store.recorder import Ending, Piece, RunEnd
from copilot_admin.transcripts.store.run_start import AcceptedRun, Rejection
from protocol.parsing import parse_query
from tests.agent.answer_requests import make_spec
from tests.agent.scripted import ScriptedProvider
from tests.agent.virtual_time import run_at_once

RUN = UUID(int=9)
ANSWERER = Answerer(spec=make_spec(), provider=ScriptedProvider([]))
HELLO = {"messages": [{"role": "human", "content": "Hello"}], "timezone": "UTC"}
LIVE = LiveCopilot(
    id=3, slug="news", version_id=4, version_number=5, logging=Logging.EVERYTHING, answerer=ANSWERER
)


def question(live: LiveCopilot = LIVE, **changes: Any) -> AdmittedQuery:
    """Somebody with a key who says hello."""
    fields: dict[str, Any] = {
        "live": live,
        "caller": Caller(principal="key:7", key_id=7),
        "query": parse_query(HELLO),
        "ids": Ids("chat-1", given=True, run_id=RUN),
        "size": 100,
        **changes,
    }
    return AdmittedQuery(**fields)


@dataclass
class Noted:
    """What a run stored and sent, and what the store answers."""

    accepted: AcceptedRun = field(default_factory=lambda: AcceptedRun(conversation_id=1, turn_id=2))
    is_kept: bool = True
    cost: Cost | None = None
    accepting: Callable[[], Any] | None = None
    inputs: list[Any] = field(default_factory=list)
    starts: list[RunStart] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    pieces: list[tuple[float, Piece]] = field(default_factory=list)
    ends: list[RunEnd] = field(default_factory=list)
    told: list[tuple[float, int, int, str]] = field(default_factory=list)
    cancelling: list[int] = field(default_factory=list)

    async def accept(self, start: RunStart) -> AcceptedRun:
        self.starts.append(start)
        if self.accepting is not None:
            await self.accepting()
        return self.accepted

    async def reject(self, rejections: Iterable[Rejection]) -> None:
        self.rejections.extend(rejections)

    def checkpoint(self, pieces: Mapping[UUID, Piece]) -> None:
        assert list(pieces) == [RUN]
        self.pieces.append((now(), pieces[RUN]))

    async def finish(self, end: RunEnd) -> Cost | None:
        assert end.run_id == RUN
        self.cancelling.append(asyncio.current_task().cancelling())  # type: ignore[union-attr]
        self.ends.append(end)
        return self.cost or UNKNOWN_COST if self.is_kept else None

    async def broadcast(self, conversation_id: int, *, turn_id: int, kind: str) -> None:
        self.told.append((now(), conversation_id, turn_id, kind))


def ending(outcome: Outcome, **changes: Any) -> Ending:
    return Ending(**{"outcome": outcome, "ms": 0, "ttft_ms": None, **changes})


def now() -> float:
    """Seconds since the clock that jumps was made."""
    return round(asyncio.get_running_loop().time() - 1000, 6)


def play(monkeypatch: pytest.MonkeyPatch, noted: Noted, script: Iterable[Any]) -> None:
    """Lets the engine put these out; a number is a pause in seconds, an error is raised."""

    async def answer(answer_request: Any, send: Any) -> None:
        noted.inputs.append(answer_request)
        for step in script:
            if isinstance(step, int | float):
                await asyncio.sleep(step)
            elif isinstance(step, BaseException):
                raise step
            elif callable(step):
                step()
            else:
                send(step)

    monkeypatch.setattr(run_task, "answer", answer)


def said(asked: AdmittedQuery | None = None) -> list[tuple[float, bytes]]:
    """Opens a run and reads it to its end: what left, and when."""

    async def scenario() -> list[tuple[float, bytes]]:
        run = await open_run(asked or question())
        pieces = [(now(), piece) async for piece in frames(run)]
        await run.task
        return pieces

    return run_at_once(scenario())


def opened(use: Callable[[ActiveRun], Any], asked: AdmittedQuery | None = None) -> None:
    """Opens a run and does something with it, instead of reading it; then waits for its end."""

    async def scenario() -> None:
        run = await open_run(asked or question())
        await use(run)
        await run.task

    run_at_once(scenario())
