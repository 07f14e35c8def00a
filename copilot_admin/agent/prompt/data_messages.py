"""Data messages of a prompt: notes of the copilot and data of the client.

Notes of the builder are frozen: they are right after the system prompt and identical at every
question, so that a provider can cache them. Data of the client is derived: it is right before the
question. Notes with the identity of derived data are moved there and merged: the client's values
win.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
import json

from copilot_admin.agent.client.widget_data import name_of
from copilot_admin.agent.client.widgets import facts_of, facts_of_param, listed_widgets
from copilot_admin.agent.prompt.data_items import describe_artifact, item_text
from copilot_admin.agent.prompt.truncation import truncate_messages
from copilot_admin.agent.values.spec import CopilotSpec, DataMessagePolicy
from copilot_admin.agent.values.turn import Fetched, fetched_in, fetched_in_turn
from protocol.data import DataMessage, fold, render
from protocol.functions import WIDGET_DATA_FUNCTIONS
from protocol.json import Json, is_deeper
from protocol.models import ContextItem, DataItem, Query, ResultMessage, SourceData, Widget

_WIDGET_DATA = "widget_data"
_MAX_DEPTH = 100  # of data that is formatted; deeper data remains in its original text


@dataclass(frozen=True, slots=True)
class DataBlocks:
    """Texts of Data messages, from the copilot's notes and from the client.

    Attributes:
        several: Widgets with data for different arguments in the conversation.
        cuts: A sentence for the user about each message that did not fit.
    """

    frozen: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    several: frozenset[str] = frozenset()
    cuts: tuple[str, ...] = ()


def data_blocks(spec: CopilotSpec, query: Query, *, limit: int) -> DataBlocks:
    """Build the Data messages of a request.

    The client's data is cut to `limit` characters: lists lose their last rows, and the description
    reports their number. Notes of the copilot are never cut.
    """
    several = _several(query) if spec.data_messages.results else frozenset()
    derived = list(_derived(spec.data_messages, query, several=several))
    if not spec.data and not derived:
        return DataBlocks()
    merging = spec.data_messages.merge
    moving = {one.identity for one in derived} if merging else set()
    frozen = fold([one for one in spec.data if one.identity not in moving], merging=merging)
    others = [one for one in spec.data if one.identity in moving]
    client = fold([*others, *derived], merging=merging)
    truncated = truncate_messages(client, limit)
    known = (
        _instances_of_earlier_turns(query, several=several)
        if spec.data_messages.results
        else frozenset()
    )
    cuts = (
        one.cut
        for message, one in zip(client, truncated, strict=True)
        if one.cut and not (message.kind == _WIDGET_DATA and message.instance in known)
    )
    return DataBlocks(
        tuple(map(render, frozen)), tuple(one.text for one in truncated), several, tuple(cuts)
    )


def is_widget_data(message: ResultMessage, fetched: Fetched) -> bool:
    return message.function in WIDGET_DATA_FUNCTIONS and isinstance(fetched.result, SourceData)


def instance_of(fetched: Fetched, *, several: frozenset[str]) -> str:
    """Return the instance of a widget's data: the widget, and its arguments if they differ.

    `several` are the widgets with data for different arguments in the conversation.
    """
    ref = fetched.ref
    return f"{ref} {_arguments(fetched)}" if ref in several else ref


def _several(query: Query) -> frozenset[str]:
    asked = Counter(
        ref
        for ref, _ in {
            (one.ref, _arguments(one)) for one in fetched_in(query.messages, widgets=query.widgets)
        }
    )
    return frozenset(ref for ref, count in asked.items() if count > 1)


def _derived(
    policy: DataMessagePolicy, query: Query, *, several: frozenset[str]
) -> Iterator[DataMessage]:
    if policy.workspace and (query.workspace_state or query.timezone):
        zone = {"timezone": query.timezone} if query.timezone else {}
        yield DataMessage(
            kind="workspace",
            data={**query.workspace_state, **zone},
            description="What the user sees: the dashboard and its tabs.",
        )
    if policy.options and query.workspace_options:
        yield DataMessage(
            kind="options",
            data=dict(query.workspace_options),
            description="What the user chose in the settings of the chat.",
        )
    if policy.widgets and query.widgets:
        yield _widgets(query)
    for item in query.context:
        if item.message is not None:
            yield item.message
        elif policy.context:
            yield _context(item)
    if policy.results:
        yield from _results(query, several=several)


def _widgets(query: Query) -> DataMessage:
    listed, others = listed_widgets(query.widgets.all(), query=query)
    more = f" {others} more are not listed." if others else ""
    groups = {
        id(widget): group
        for group in ("primary", "secondary", "extra")
        for widget in getattr(query.widgets, group)
    }
    return DataMessage(
        kind="widgets",
        data={one.ref: _widget(one, group=groups[id(one)]) for one in listed},
        description=f"Widgets that the user offers, keyed by id.{more}",
    )


def _widget(widget: Widget, *, group: str) -> Json:
    about = {
        "name": widget.name,
        "description": widget.description,
        "origin": widget.origin,
        "widget_id": widget.widget_id,
    }
    known = {key: value for key, value in about.items() if value}
    row: dict[str, Json] = {
        **known,
        **{key: fact for key, fact in facts_of(widget).items() if key not in known},
        "group": group,
        "params": dict(widget.input_args()),
    }
    params: dict[str, Json] = {
        param.name: {"type": param.type, **facts}
        for param in widget.params
        if (facts := facts_of_param(param))
    }
    return {**row, "about_params": params} if params else row


def _context(item: ContextItem) -> DataMessage:
    data = _content(item.data)
    if item.metadata:
        members = data if isinstance(data, Mapping) else {"content": data}
        data = {**members, "metadata": item.metadata}
    return DataMessage(
        kind="context",
        instance=item.name or item.uuid,
        data=data,
        description=_describe(item.description, item.data),
    )


def _results(query: Query, *, several: frozenset[str]) -> Iterator[DataMessage]:
    for one in fetched_in(query.messages, widgets=query.widgets):
        if not isinstance(one.result, SourceData):
            continue  # an error remains at the place of the call
        name = name_of(one.widget) if one.widget else one.ref
        asked = f" asked with {_arguments(one)}" if one.source.input_args else ""
        yield DataMessage(
            kind=_WIDGET_DATA,
            instance=instance_of(one, several=several),
            data=_content(one.result),
            description=_describe(f"Data of the widget {name}{asked}.", one.result),
        )


def _arguments(fetched: Fetched) -> str:
    return json.dumps(fetched.source.input_args, ensure_ascii=False, sort_keys=True)


def _content(data: SourceData) -> Json:
    values = [_parse_json(item_text(item)) for item in data.items]
    return values[0] if len(values) == 1 else values


def _instances_of_earlier_turns(query: Query, *, several: frozenset[str]) -> frozenset[str]:
    of_this_turn = {instance_of(one, several=several) for one in fetched_in_turn(query)}
    everything = {
        instance_of(one, several=several)
        for one in fetched_in(query.messages, widgets=query.widgets)
    }
    return frozenset(everything - of_this_turn)


def _describe(description: str, data: SourceData) -> str:
    notes = (describe_artifact(item) for item in data.items if isinstance(item, DataItem))
    return " ".join(filter(None, (description, *notes)))


def _parse_json(text: str) -> Json:
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    nested = text.count("[") + text.count("{") > _MAX_DEPTH
    return text if nested and is_deeper(value, than=_MAX_DEPTH) else value
