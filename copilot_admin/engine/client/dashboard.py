"""The user's dashboard as the model is told of it, and whether it may be changed."""

from collections.abc import Iterator, Mapping, Sequence
import json

from copilot_admin.engine.values.spec import CopilotSpec
from protocol.json import Json, JsonObject
from protocol.query import Query

GENERATIVE_UI = "generative-ui"
_MOST_TABS = 50
_MOST_WIDGETS = 200  # of one tab
_NO_TAB = "__no_tab__"


def may_be_changed(spec: CopilotSpec, query: Query) -> bool:
    """Whether the user lets this copilot change the dashboard.

    Source: Workspace sends its options with every request, this one only while the switch is on.
    A client that sends none has no such switch; its copilot says whether it may, and the state of
    the workspace that there is something to change.
    """
    if query.workspace_options.get(GENERATIVE_UI) is True:
        return True
    if query.env.get("workspace_options") is not None:
        return False
    return spec.has(GENERATIVE_UI) and bool(query.workspace_state)


def dashboard_text(query: Query) -> str:
    """The dashboard's name, tabs and widgets for the system prompt; empty if none is open."""
    info = query.workspace_state.get("current_dashboard_info")
    if not isinstance(info, Mapping):
        return ""
    row: dict[str, Json] = {"dashboard": _text(info.get("name"))}
    current = info.get("current_tab_id")
    tabs = [_tab(tab, current=current) for tab in _objects(info.get("tabs"))[:_MOST_TABS]]
    row["tabs"] = list(tabs)
    text = json.dumps(row, ensure_ascii=False).replace("</data>", "<\\/data>")
    return f'<data source="the open dashboard">\n{text}\n</data>'


def agents_of(query: Query) -> tuple[JsonObject, ...]:
    """The agents to which tasks may be given; only an orchestrator is told of any."""
    agents = _objects(query.workspace_state.get("agents"))
    return tuple(agent for agent in agents if _text(agent.get("id")))


def _tab(tab: JsonObject, *, current: Json) -> JsonObject:
    tab_id = _text(tab.get("tab_id"))
    row: dict[str, Json] = {} if tab_id in ("", _NO_TAB) else {"tab": tab_id}
    if tab_id and tab_id == current:
        row["open"] = True
    widgets = _objects(tab.get("widgets"))[:_MOST_WIDGETS]
    row["widgets"] = list(_named(widgets))
    return row


def _named(widgets: Sequence[JsonObject]) -> Iterator[JsonObject]:
    for widget in widgets:
        yield {"id": _text(widget.get("widget_uuid")), "name": _text(widget.get("name"))}


def _objects(value: Json) -> Sequence[JsonObject]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
