"""Widgets that are offered to the model, and its calls for their data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import json
from typing import Annotated, Any

from pydantic import BaseModel, Field, JsonValue, model_validator

from copilot_admin.agent.client.limits import MAX_SOURCES, check_size, fit_in_one_call
from copilot_admin.agent.client.widget_data import (
    GET_EXTRA_WIDGET_DATA,
    DataCall,
    DataPlan,
    Identity,
    distinct_widgets,
    identity,
    is_fetchable,
    name_of,
    source_for,
)
from copilot_admin.agent.client.workspace import data_block
from copilot_admin.agent.text import join_names, quote, truncate
from copilot_admin.agent.toolkits.ranking import ranked
from copilot_admin.agent.tools.tool import ToolMistake, read_arguments, schema_of
from copilot_admin.agent.values.model_call import ToolCall, ToolSchema
from protocol.data import MISSING
from protocol.functions import GET_WIDGET_DATA, DataSource, data_sources
from protocol.json import Json, JsonObject, text_of
from protocol.models import Generation, Query, Widget, WidgetParam

MAX_EXTRA = 20  # widgets that aren't on the dashboard
_MAX_LISTED = 200
_MAX_OPTIONS = 20
_MAX_COLUMNS = 50
_MAX_DESCRIPTION = 500  # characters
_MAX_IDS = 20  # in a sentence


def offer_text(widgets: Sequence[Widget], *, query: Query) -> str:
    """Return the list of offered widgets for the system prompt."""
    if not widgets:
        return ""
    chosen, others = listed_widgets(widgets, query=query)
    lines = [row_text(widget, query=query) for widget in chosen]
    if others:
        lines.append(f"[{others} more widgets are not listed; find_widgets finds them]")
    return data_block(f"widgets that {GET_WIDGET_DATA} can get", lines)


def listed_widgets(widgets: Sequence[Widget], *, query: Query) -> tuple[list[Widget], int]:
    """Return the listed widgets, and the number of unlisted ones.

    Widgets that aren't on the dashboard are listed if they match the question best.
    """
    widgets = distinct_widgets(widgets)
    extra = _extra_refs(query)
    own = [widget for widget in widgets if widget.ref not in extra][:_MAX_LISTED]
    others = [widget for widget in widgets if widget.ref in extra]
    question = query.question.text if query.question else ""
    chosen = [*own, *best_widgets(question, others, limit=MAX_EXTRA)]
    return chosen, len(widgets) - len(chosen)


def _extra_refs(query: Query) -> set[str]:
    """Return the widgets that aren't on the dashboard."""
    own = {widget.ref for widget in (*query.widgets.primary, *query.widgets.secondary)}
    return {widget.ref for widget in query.widgets.extra} - own


def best_widgets(question: str, widgets: Sequence[Widget], *, limit: int) -> list[Widget]:
    if len(widgets) <= limit:
        return list(widgets)
    texts = []
    for one in widgets:
        params = (f"{param.name} {param.description}" for param in one.params)
        about = (one.description, one.category, one.sub_category, one.source, *one.columns)
        texts.append(" ".join(filter(None, (name_of(one), one.widget_id, *about, *params))))
    return [widgets[index] for index in ranked(question, texts)[:limit]]


def row_text(widget: Widget, *, query: Query) -> str:
    """Return the description of a widget for the model: a JSON object on a line."""
    row: dict[str, Json] = {"id": widget.ref, "name": name_of(widget)}
    if widget.uuid:  # otherwise they are the id
        places = {"origin": widget.origin, "widget_id": widget.widget_id}
        row |= {key: value for key, value in places.items() if value}
    if any(widget.ref == one.ref for one in query.widgets.primary):
        row["selected"] = True  # by the user, for this question
    row |= facts_of(widget)
    params: list[JsonObject] = []
    for param in widget.params:
        value = {} if param.value is MISSING else {"value": param.value}
        params.append({"name": param.name, "type": param.type, **value, **facts_of_param(param)})
    if params:
        row["params"] = [*params]
    return json.dumps(row, ensure_ascii=False)


def facts_of(widget: Widget) -> dict[str, Json]:
    """Return Workspace's facts about a widget in addition to its name and parameters."""
    about: dict[str, Json] = {
        "category": widget.category,
        "subcategory": widget.sub_category,
        "source": widget.source,
    }
    for name, value in about.items():
        about[name] = value or truncate(text_of(widget.metadata.get(name)), _MAX_DESCRIPTION)
    about = {"description": truncate(widget.description, _MAX_DESCRIPTION), **about}
    known = {key: value for key, value in about.items() if value}
    return known | _first("columns", widget.columns, limit=_MAX_COLUMNS)


def facts_of_param(param: WidgetParam) -> dict[str, Json]:
    """Return Workspace's facts about a parameter in addition to name, type and value."""
    row: dict[str, Json] = {}
    if param.description:
        row["description"] = truncate(param.description, _MAX_DESCRIPTION)
    if param.default_value is not MISSING:
        row["default"] = param.default_value
    if param.executed_value is not MISSING:
        row["executed"] = param.executed_value  # of what is on the screen
    if param.multi_select:
        row["several"] = True  # the value may be a list
    if param.options:
        return row | _first("options", param.options, limit=_MAX_OPTIONS)
    return row | {"options": "ask"} if param.get_options else row  # with get_params_options


def _first(name: str, values: Sequence[Json], *, limit: int) -> dict[str, Json]:
    some: dict[str, Json] = {name: list(values[:limit])} if values else {}
    return some | ({f"more_{name}": len(values) - limit} if len(values) > limit else {})


class WidgetLookup:
    """The widgets of a request by id, or by a unique name."""

    def __init__(self, query: Query) -> None:
        self._by_ref: dict[str, Widget] = {}
        self._by_name: dict[str, Widget | None] = {}  # None if several match
        for widget in filter(is_fetchable, query.widgets.all()):
            self._by_ref.setdefault(widget.ref, widget)
            names = {widget.widget_id, widget.name, f"{widget.origin}/{widget.widget_id}"}
            for name in names:
                self._by_name[name] = None if name in self._by_name else widget

    def find(self, wanted: str, *, params: Mapping[str, Json]) -> Widget:
        """Return the widget, or raise a `ToolMistake` if it or one of the parameters is unknown."""
        widget = self._by_ref.get(wanted) or self._by_name.get(wanted)
        if widget is None:
            ids = join_names([*self._by_ref][:_MAX_IDS])
            text = f"There is no widget with the id {quote(wanted)}. Offered ids: {ids}."
            raise ToolMistake(text)
        known = sorted(param.name for param in widget.params)
        for name in params:
            if name not in known:
                text = f"The widget {quote(wanted)} has no parameter {quote(name)}. "
                raise ToolMistake(f"{text}Its parameters: {join_names(known) or 'none'}.")
        return widget


class WantedWidget(BaseModel):
    """One widget that the model wants the data of."""

    id: str = Field(description="The id of an offered widget, exactly as listed.")
    params: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="Parameters that differ from the listed values; leave it out otherwise.",
    )


class GetWidgetData(BaseModel):
    """The arguments of the tool `get_widget_data`."""

    widgets: Annotated[
        list[WantedWidget],
        Field(min_length=1, max_length=MAX_SOURCES, description="What to get."),
    ]

    @model_validator(mode="before")
    @classmethod
    def _read_names_of_workspace(cls, given: Any) -> Any:
        is_own = isinstance(given, Mapping) and "widgets" in given
        sources = () if is_own else data_sources(given)
        wanted = [{"id": one.ref, "params": one.input_args} for one in sources]
        return {"widgets": wanted} if wanted else given


DATA_TOOL = ToolSchema(
    name=GET_WIDGET_DATA,
    description="Gets the current data of one or more widgets of the user's dashboard. Use it "
    "whenever the answer depends on what a widget shows, and ask for all you need in one call.",
    parameters=schema_of(GetWidgetData),
)


@dataclass(frozen=True, slots=True)
class DataRequest:
    """A widget whose data the model requested, and the call that requested it."""

    call: ToolCall
    wanted: WantedWidget
    widget: Widget
    source: DataSource


def read_data_requests(call: ToolCall, *, widgets: WidgetLookup) -> list[DataRequest]:
    """Return the requests in a call of `get_widget_data`, or raise a `ToolMistake`."""
    requests: list[DataRequest] = []
    for wanted in read_arguments(GetWidgetData, call).widgets:
        widget = widgets.find(wanted.id, params=wanted.params)
        source = source_for(widget, params=wanted.params)
        check_size(call.name, source.to_json())
        requests.append(DataRequest(call, wanted, widget, source))
    return requests


def plan_data_call(
    requests: Sequence[DataRequest], *, plan: DataPlan, query: Query
) -> tuple[DataCall, tuple[ToolCall, ...]]:
    """Return the client call for the model's requests, and calls for the remaining ones.

    A step makes one call, and a call is for one function. Widgets of the dashboard go first, as far
    as they fit. Generation 1 fetches one widget in each step. If all of the data is already in this
    turn, a `ToolMistake` is raised.
    """
    distinct: dict[Identity, DataRequest] = {}
    for one in requests:
        distinct.setdefault(identity(one.source, widget=one.widget), one)
    new = [one for same, one in distinct.items() if same not in plan.had]
    if not new:
        names = join_names(dict.fromkeys(quote(one.wanted.id) for one in requests))
        raise ToolMistake(f"The data of {names} is already above; answer from it.")
    extra = _extra_refs(query) if query.generation is Generation.THREE else set()
    own = [one for one in new if one.widget.ref not in extra]
    now = own or new
    if query.generation is Generation.ONE:
        now = now[:1]
    sources = fit_in_one_call(one.source for one in now)
    fetched = {id(source) for source in sources}
    later: dict[ToolCall, list[Json]] = {}
    for one in new:
        if id(one.source) not in fetched:
            later.setdefault(one.call, []).append(one.wanted.model_dump(exclude_defaults=True))
    calls = (
        replace(call, arguments=json.dumps({"widgets": wanted})) for call, wanted in later.items()
    )
    return DataCall(GET_WIDGET_DATA if own else GET_EXTRA_WIDGET_DATA, sources), tuple(calls)
