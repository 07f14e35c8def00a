"""The fixed status updates that a builder wrote, each at its place in the stream of a question."""

from dataclasses import replace

from copilot_admin.agent.client.widget_data import name_of
from copilot_admin.agent.values.spec import CopilotSpec, StepPlace
from copilot_admin.agent.values.turn import fetched_in_turn, widgets_of
from protocol.events import FunctionCall, StatusUpdate
from protocol.functions import WIDGET_DATA_FUNCTIONS, data_sources
from protocol.json import JsonObject
from protocol.models import Query, SourceData

MOST_NAMES = 5  # of widgets in one step, which is a line


def steps_before_words(
    spec: CopilotSpec, *, query: Query, begins: bool
) -> tuple[StatusUpdate, ...]:
    """What stands before the first words of an answer.

    Args:
        spec: Whose steps they are.
        query: Of this leg.
        begins: Nothing was shown for the question yet, in this leg or in one before it.
    """
    start = steps_at_start(spec) if begins else ()
    has_data = any(isinstance(one.result, SourceData) for one in fetched_in_turn(query))
    return (*start, *(_steps_at(StepPlace.READ, spec=spec) if has_data else ()))


def steps_before_call(
    call: FunctionCall, spec: CopilotSpec, *, query: Query, begins: bool
) -> tuple[StatusUpdate, ...]:
    """What stands before a call of the client: the start, and what data is asked for."""
    start = steps_at_start(spec) if begins else ()
    if call.function not in WIDGET_DATA_FUNCTIONS:
        return start
    names = _names(call.input_arguments, query=query)
    fetching = (
        replace(step, message=f"{step.message.rstrip(' .:…')}: {names}")
        for step in _steps_at(StepPlace.FETCH, spec=spec)
    )
    return (*start, *fetching)


def steps_at_start(spec: CopilotSpec) -> tuple[StatusUpdate, ...]:
    """What stands first of all for a question."""
    return _steps_at(StepPlace.START, spec=spec)


def steps_at_end(spec: CopilotSpec) -> tuple[StatusUpdate, ...]:
    """What stands behind a whole answer."""
    return _steps_at(StepPlace.END, spec=spec)


def _steps_at(place: StepPlace, *, spec: CopilotSpec) -> tuple[StatusUpdate, ...]:
    if not spec.show_steps:
        return ()
    return tuple(
        StatusUpdate(
            message=step.message,
            level=step.type,
            details=(step.details,) if step.details else (),
        )
        for step in spec.steps
        if step.at is place
    )


def _names(input_arguments: JsonObject, *, query: Query) -> str:
    sources = data_sources(input_arguments)
    found = widgets_of(sources, widgets=query.widgets)
    names = [
        name_of(widget) if widget else source.id
        for source, widget in zip(sources, found, strict=True)
    ]
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
