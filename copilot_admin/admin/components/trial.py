"""Run of a tool as a copilot would call it, with the result for user and model."""

from contextlib import aclosing
from dataclasses import dataclass
from uuid import uuid4

from copilot_admin.admin.blocks.blocks import build_blocks
from copilot_admin.admin.blocks.kinds import Block, DisplayLimits
from copilot_admin.agent.components.events import ComponentEvents
from copilot_admin.agent.components.runs import ComponentRun
from copilot_admin.agent.server_tools import result_text, title_of
from copilot_admin.errors import BadArguments, ComponentError, ManifestMismatch
from copilot_admin.models import Run
from copilot_admin.rendering.text import pretty_json, shortened
from copilot_admin.transcripts.queries import RunView, make_event
from copilot_admin.transcripts.store.recorder import Recorder
from protocol.components import ComponentOutput
from protocol.events import CitationCollection
from protocol.json import JsonObject, clean_text

LIMITS = DisplayLimits(rows=200, cell=1_000, text=100_000)  # nothing else is on the page
MAX_OUTPUT_CHARACTERS = 4_000  # of one output
MAX_OUTPUTS = 200
FOR_DEVELOPERS = {"content": {"__all__": {"raw_data"}}}  # shown to nobody else


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


async def try_component(run: ComponentRun) -> TrialResult:
    """Run a tool to its end; an error becomes part of the result."""
    error: ComponentError | None = None
    try:
        async with aclosing(run.stream()) as outputs:
            async for _ in outputs:
                pass
    except ComponentError as raised:
        error = raised
    text = error.public if error else ""
    is_refused = isinstance(error, BadArguments)
    for_model = text if isinstance(error, ManifestMismatch) else result_text(run)
    return TrialResult(
        listed=tuple(_format(one, MAX_OUTPUT_CHARACTERS) for one in run.outputs[:MAX_OUTPUTS]),
        outputs=len(run.outputs),
        blocks=tuple(build_blocks(_record_answer(run), limits=LIMITS)),
        for_model=shortened(clean_text(for_model), most=LIMITS.text),
        merged=_format(run.merged, LIMITS.text),
        refusal=text if is_refused else "",
        problem="" if is_refused else text,
        usage=tuple(map(dict, run.usage)),
        ms=round(run.seconds * 1000),
    )


def _format(output: ComponentOutput, max_length: int) -> str:
    text = pretty_json(output.model_dump(mode="json", exclude=FOR_DEVELOPERS))
    return shortened(clean_text(text), most=max_length)


def _record_answer(run: ComponentRun) -> RunView:
    """Return an answer with only this call, as a transcript would store it."""
    recorder, id = Recorder(), uuid4()
    events = ComponentEvents(
        title=title_of(run.component.name),
        description=run.component.summary(),
        id=id,
        stream_all_text=True,
        show_steps=True,
    )
    for output in run.outputs:
        for event in events.take(output):
            recorder.add(event, at_ms=0)
    for event in events.end():
        recorder.add(event, at_ms=0)
    if events.citations:
        recorder.add(CitationCollection(tuple(events.citations.values())), at_ms=0)
    recording = recorder.recording()
    made = tuple(make_event(one, order) for order, one in enumerate(recording.events))
    return RunView(row=Run(id=id), answer=recording.text, events=made)
