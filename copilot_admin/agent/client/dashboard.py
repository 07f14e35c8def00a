"""Dashboard of the client and the sources of its widgets."""

from collections.abc import Iterator, Mapping, Sequence
import json

from copilot_admin.agent.values.spec import CopilotSpec
from protocol.json import Json, JsonObject, objects_of, text_of
from protocol.models import Query

GENERATIVE_UI = "generative-ui"
_MOST_TABS = 50
_MOST_WIDGETS = 200  # of one tab
_MOST_ACTIONS = 50
_LONGEST = 300  # characters of an action, or of the name of a page
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


def workspace_text(query: Query) -> str:
    """What the user sees and has done, for the system prompt; empty where nothing is said of it."""
    if not query.workspace_state:
        return ""
    return "\n\n".join(filter(None, (_page_text(query), _dashboard_text(query))))


def _page_text(query: Query) -> str:
    row: dict[str, Json] = {}
    if page := text_of(query.workspace_state.get("current_page_context")):
        row["page"] = page[:_LONGEST]
    history = query.workspace_state.get("action_history")
    actions = history if isinstance(history, list | tuple) else ()
    if latest := [text[:_LONGEST] for one in actions if (text := text_of(one))][-_MOST_ACTIONS:]:
        row["latest_actions"] = list(latest)
    return _data("the user's workspace", row) if row else ""


def _dashboard_text(query: Query) -> str:
    info = query.workspace_state.get("current_dashboard_info")
    if not isinstance(info, Mapping):
        return ""
    row: dict[str, Json] = {"dashboard": text_of(info.get("name"))}
    current = info.get("current_tab_id")
    tabs = objects_of(info.get("tabs"))
    row["tabs"] = [_tab(tab, current=current) for tab in tabs[:_MOST_TABS]]
    if len(tabs) > _MOST_TABS:
        row["more_tabs"] = len(tabs) - _MOST_TABS
    return _data("the open dashboard", row)


def agents_of(query: Query) -> tuple[JsonObject, ...]:
    """The agents to which tasks may be given; only an orchestrator is told of any."""
    agents = objects_of(query.workspace_state.get("agents"))
    return tuple(agent for agent in agents if text_of(agent.get("id")))


def _data(source: str, row: JsonObject) -> str:
    text = json.dumps(row, ensure_ascii=False).replace("</data>", "<\\/data>")
    return f'<data source="{source}">\n{text}\n</data>'


def _tab(tab: JsonObject, *, current: Json) -> JsonObject:
    tab_id = text_of(tab.get("tab_id"))
    row: dict[str, Json] = {} if tab_id in ("", _NO_TAB) else {"tab": tab_id}
    if tab_id and tab_id == current:
        row["open"] = True
    widgets = objects_of(tab.get("widgets"))
    row["widgets"] = list(_named(widgets[:_MOST_WIDGETS]))
    if len(widgets) > _MOST_WIDGETS:
        row["more_widgets"] = len(widgets) - _MOST_WIDGETS
    return row


def _named(widgets: Sequence[JsonObject]) -> Iterator[JsonObject]:
    for widget in widgets:
        yield {"id": text_of(widget.get("widget_uuid")), "name": text_of(widget.get("name"))}
