"""The user's dashboard, other agents and skills, as described by Workspace."""

from collections.abc import Iterable, Mapping
import json

from copilot_admin.agent.values.spec import CopilotSpec
from copilot_admin.agent.values.turn import messages_of_turn
from protocol.functions import GET_SKILL_CONTENT
from protocol.json import Json, JsonObject, list_of, objects_of, text_of
from protocol.models import Query, ResultMessage

GENERATIVE_UI = "generative-ui"
MAX_SKILLS = 200  # in the prompt
_MAX_DESCRIPTION = 500  # characters, of a skill
_MAX_TABS = 50
_MAX_WIDGETS = 200  # of one tab
_MAX_ACTIONS = 50
_MAX_TEXT = 300  # characters of an action, or of the name of a page
_NO_TAB = "__no_tab__"


def may_be_changed(spec: CopilotSpec, query: Query) -> bool:
    """Return true if the user allows this copilot to change the dashboard.

    Source: Workspace sends its options with every request, this one only while the switch is on.
    If a client sends no options, the copilot's feature decides, provided that there is a dashboard.
    """
    if query.workspace_options.get(GENERATIVE_UI) is True:
        return True
    if query.env.get("workspace_options") is not None:
        return False
    return spec.has(GENERATIVE_UI) and bool(query.workspace_state)


def agents_of(query: Query) -> tuple[JsonObject, ...]:
    """Return the agents that can be assigned tasks; only an orchestrator has any."""
    agents = objects_of(query.workspace_state.get("agents"))
    return tuple(agent for agent in agents if text_of(agent.get("id")))


def workspace_text(query: Query) -> str:
    """Return the dashboard and the user's actions as text for the system prompt."""
    state = query.workspace_state
    texts = []
    row: dict[str, Json] = {}
    if page := text_of(state.get("current_page_context")):
        row["page"] = page[:_MAX_TEXT]
    actions = map(text_of, list_of(state.get("action_history")))
    if latest := [text[:_MAX_TEXT] for text in actions if text][-_MAX_ACTIONS:]:
        row["latest_actions"] = latest
    if row:
        texts.append(data_block("the user's workspace", [_line(row)]))
    dashboard = state.get("current_dashboard_info")
    if isinstance(dashboard, Mapping):
        tabs = objects_of(dashboard.get("tabs"))
        current = dashboard.get("current_tab_id")
        shown = [_tab(tab, current=current) for tab in tabs[:_MAX_TABS]]
        row = {"dashboard": text_of(dashboard.get("name")), "tabs": shown}
        if len(tabs) > _MAX_TABS:
            row["more_tabs"] = len(tabs) - _MAX_TABS
        texts.append(data_block("the open dashboard", [_line(row)]))
    return "\n\n".join(texts)


def _tab(tab: JsonObject, *, current: Json) -> JsonObject:
    tab_id = text_of(tab.get("tab_id"))
    row: dict[str, Json] = {} if tab_id in ("", _NO_TAB) else {"tab": tab_id}
    if tab_id and tab_id == current:
        row["open"] = True
    widgets = objects_of(tab.get("widgets"))
    row["widgets"] = [
        {"id": text_of(one.get("widget_uuid")), "name": text_of(one.get("name"))}
        for one in widgets[:_MAX_WIDGETS]
    ]
    if len(widgets) > _MAX_WIDGETS:
        row["more_widgets"] = len(widgets) - _MAX_WIDGETS
    return row


def offered_skills(query: Query) -> tuple[JsonObject, ...]:
    """Return the skills that may be loaded; empty if one was chosen or loaded in this turn."""
    was_loaded = any(
        isinstance(message, ResultMessage) and message.function == GET_SKILL_CONTENT
        for message in messages_of_turn(query)
    )
    return () if query.selected_skills or was_loaded else query.skills_catalog


def catalog_text(query: Query) -> str:
    """Return the list of skills for the system prompt, as data: users write the descriptions."""
    rows: list[JsonObject] = [
        {
            "slug": skill["slug"],
            "description": str(skill.get("description") or "")[:_MAX_DESCRIPTION],
        }
        for skill in offered_skills(query)[:MAX_SKILLS]
    ]
    return data_block(f"skills that {GET_SKILL_CONTENT} can load", map(_line, rows)) if rows else ""


def data_block(source: str, lines: Iterable[str]) -> str:
    """Return lines between tags that mark them as data."""
    text = escape_data("\n".join(lines))
    return f'<data source="{source}">\n{text}\n</data>'


def escape_data(text: str) -> str:
    """Return a text that can't close a data block."""
    return text.replace("</data>", "<\\/data>")


def _line(row: JsonObject) -> str:
    return json.dumps(row, ensure_ascii=False)
