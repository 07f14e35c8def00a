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
from copilot_admin.agent.prompt.truncation import describe_artifact, item_text, truncate_messages
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
    """Texts of Data messages, from the copilot's notes and from the client."""

    frozen: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    # Widgets with data for different arguments in the conversation.
    several: frozenset[str] = frozenset()
    # A sentence for the user about each message of this turn that did not fit.
    cuts: tuple[str, ...] = ()


def data_blocks(spec: CopilotSpec, query: Query, *, limit: int) -> DataBlocks:
    """Build the Data messages of a request.

    The client's data is cut to `limit` characters: lists lose their last rows, and the description
    reports their number. Notes of the copilot are never cut.
    """
    has_results = spec.data_messages.results
    fetched = fetched_in(query.messages, widgets=query.widgets) if has_results else ()
    variants = Counter(ref for ref, _ in {(one.ref, _arguments(one)) for one in fetched})
    several = frozenset(ref for ref, count in variants.items() if count > 1)
    derived = [
        *_derived(spec.data_messages, query),
        # An error remains at the place of the call.
        *(
            _result(one, data, several)
            for one in fetched
            if isinstance(data := one.result, SourceData)
        ),
    ]
    if not spec.data and not derived:
        return DataBlocks()
    merging = spec.data_messages.merge
    moving = {one.identity for one in derived} if merging else set()
    frozen = fold([one for one in spec.data if one.identity not in moving], merging=merging)
    others = [one for one in spec.data if one.identity in moving]
    client = fold([*others, *derived], merging=merging)
    truncated = truncate_messages(client, limit)
    recent = {instance_of(one, several=several) for one in fetched_in_turn(query)}
    earlier = {instance_of(one, several=several) for one in fetched} - recent
    cuts = tuple(
        cut
        for message, (_, cut) in zip(client, truncated, strict=True)
        if cut and not (message.kind == _WIDGET_DATA and message.instance in earlier)
    )
    derived_texts = tuple(text for text, _ in truncated)
    return DataBlocks(tuple(map(render, frozen)), derived_texts, several, cuts)


def is_widget_data(message: ResultMessage, fetched: Fetched) -> bool:
    return message.function in WIDGET_DATA_FUNCTIONS and isinstance(fetched.result, SourceData)


def instance_of(fetched: Fetched, *, several: frozenset[str]) -> str:
    """Return the instance of a widget's data: the widget, and its arguments if they differ.

    `several` are the widgets with data for different arguments in the conversation.
    """
    ref = fetched.ref
    return f"{ref} {_arguments(fetched)}" if ref in several else ref


def _derived(policy: DataMessagePolicy, query: Query) -> Iterator[DataMessage]:
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
    names = ("name", "description", "origin", "widget_id")
    known: dict[str, Json] = {key: one for key in names if (one := getattr(widget, key))}
    params: dict[str, Json] = {
        param.name: {"type": param.type, **facts}
        for param in widget.params
        if (facts := facts_of_param(param))
    }
    return {
        **known,
        **facts_of(widget),
        **known,  # again: they count, and are first
        "group": group,
        "params": dict(widget.input_args()),
        **({"about_params": params} if params else {}),
    }


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


def _result(fetched: Fetched, data: SourceData, several: frozenset[str]) -> DataMessage:
    name = name_of(fetched.widget) if fetched.widget else fetched.ref
    asked = f" asked with {_arguments(fetched)}" if fetched.source.input_args else ""
    return DataMessage(
        kind=_WIDGET_DATA,
        instance=instance_of(fetched, several=several),
        data=_content(data),
        description=_describe(f"Data of the widget {name}{asked}.", data),
    )


def _arguments(fetched: Fetched) -> str:
    return json.dumps(fetched.source.input_args, ensure_ascii=False, sort_keys=True)


def _content(data: SourceData) -> Json:
    values = [_parse_json(item_text(item)) for item in data.items]
    return values[0] if len(values) == 1 else values


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
