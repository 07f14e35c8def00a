"""Run of a tool as a copilot would call it, with the result for user and model."""

from collections.abc import Iterator
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
MAX_OUTPUT_CHARACTERS = 4_000  # characters of one output
MAX_OUTPUTS = 200  # outputs
DEVELOPERS = {"content": {"__all__": {"raw_data"}}}  # shown to nobody else


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialAnswer:
    """Answer with only this call, as a transcript would store it."""

    call: ClassVar[CallView | None] = None

    id: UUID
    answer: str
    events: tuple[EventView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """Result of a try.

    Attributes:
        listed: The first outputs as JSON.
        outputs: Number of all outputs.
        refusal: Error in the arguments; "" if there is none.
        problem: Any other error; "" if there is none.
        usage: Tokens of the models that were called.
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
    def __init__(self, run: ComponentRun) -> None:
        self._run = run
        self._error: ComponentError | None = None

    async def finish(self) -> None:
        """Run the tool to its end; an error becomes part of the result."""
        try:
            async with aclosing(self._run.stream()) as outputs:
                async for _ in outputs:
                    pass
        except ComponentError as error:
            self._error = error

    def result(self) -> TrialResult:
        run, error = self._run, self._error
        sentence = error.public if error else ""
        is_refused = isinstance(error, BadArguments)
        return TrialResult(
            listed=tuple(map(_shorten, run.outputs[:MAX_OUTPUTS])),
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


def _shorten(output: ComponentOutput) -> str:
    return shortened(_json(output), most=MAX_OUTPUT_CHARACTERS)


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
