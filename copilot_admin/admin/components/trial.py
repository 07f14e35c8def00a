"""Tries a component as a copilot would call it: what it yields, and what becomes of that."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID, uuid4

from copilot_admin.admin.blocks.blocks import build_blocks
from copilot_admin.admin.blocks.contents import DisplayLimits
from copilot_admin.admin.blocks.kinds import Block
from copilot_admin.agent.components.events import ComponentEvents
from copilot_admin.agent.components.runs import ComponentRun
from copilot_admin.agent.server_tools import result_text, title_of
from copilot_admin.errors import BadArguments, ComponentError, ManifestMismatch
from copilot_admin.rendering.text import pretty_json, shortened
from copilot_admin.transcripts.queries import CallView, EventView
from copilot_admin.transcripts.store.recorder import Recorder
from protocol.components import ComponentOutput
from protocol.events import CitationCollection, Event
from protocol.json import JsonObject, clean_text

LIMITS = DisplayLimits(rows=200, cell=1_000, text=100_000)  # nothing else is on the page
MOST_RAW = 4_000  # characters of one output
MOST_LISTED = 200  # outputs
DEVELOPERS = {"content": {"__all__": {"raw_data"}}}  # shown to nobody else


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialAnswer:
    """What the user of a copilot would see, as a transcript would keep it."""

    call: ClassVar[CallView | None] = None

    id: UUID
    answer: str
    events: tuple[EventView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """What a try of a component gave: for the user, for the model, and as outputs.

    Attributes:
        listed: The first outputs as JSON.
        outputs: How many there were.
        refusal: Why the arguments are wrong; empty when they are not.
        problem: What went wrong besides; empty when all went well.
        usage: The tokens of the models that were asked.
    """

    listed: tuple[str, ...]
    outputs: int
    blocks: tuple[Block, ...]
    for_model: str
    merged: str
    refusal: str
    problem: str
    usage: tuple[JsonObject, ...]
    ms: int


class ComponentTrial:
    """One try of a component."""

    def __init__(self, run: ComponentRun) -> None:
        self._run = run
        self._error: ComponentError | None = None

    async def outputs(self) -> AsyncGenerator[ComponentOutput, None]:
        """What the component yields; an error ends it and becomes part of the result."""
        try:
            async with aclosing(self._run.stream()) as outputs:
                async for output in outputs:
                    yield output
        except ComponentError as error:
            self._error = error

    async def finish(self) -> None:
        """Takes in all that the component yields."""
        async with aclosing(self.outputs()) as outputs:
            async for _ in outputs:
                pass

    def result(self) -> TrialResult:
        """What came of it, once it has ended."""
        run, error = self._run, self._error
        sentence = error.public if error else ""
        is_refused = isinstance(error, BadArguments)
        return TrialResult(
            listed=tuple(map(raw, run.outputs[:MOST_LISTED])),
            outputs=len(run.outputs),
            blocks=tuple(build_blocks(_answer_of(run), limits=LIMITS)),
            for_model=shortened(clean_text(self._told()), most=LIMITS.text),
            merged=shortened(_json(run.merged), most=LIMITS.text),
            refusal=sentence if is_refused else "",
            problem="" if is_refused else sentence,
            usage=tuple(map(dict, run.usage)),
            ms=round(run.seconds * 1000),
        )

    def _told(self) -> str:
        if isinstance(self._error, ManifestMismatch):
            return self._error.public
        return result_text(self._run)


def raw(output: ComponentOutput) -> str:
    """An output as JSON, or its beginning."""
    return shortened(_json(output), most=MOST_RAW)


def _json(output: ComponentOutput) -> str:
    return clean_text(pretty_json(output.model_dump(mode="json", exclude=DEVELOPERS)))


def _answer_of(run: ComponentRun) -> TrialAnswer:
    recorder, id = Recorder(), uuid4()
    for event in _events_of(run, id):
        recorder.add(event, at_ms=0)
    recording = recorder.recording()
    events = tuple(
        EventView(
            ord=order,
            type=str(entry.type),
            payload=entry.payload,
            text_offset=entry.text_offset,
            at_ms=0,
        )
        for order, entry in enumerate(recording.events)
    )
    return TrialAnswer(id=id, answer=recording.text, events=events)


def _events_of(run: ComponentRun, id: UUID) -> Iterator[Event]:
    events = ComponentEvents(
        title=title_of(run.component.name),
        description=run.component.summary(),
        id=id,
        stream_all_text=True,
        show_steps=True,
    )
    for output in run.outputs:
        yield from events.take(output)
    yield from events.end()
    if events.citations:
        yield CitationCollection(tuple(events.citations.values()))
