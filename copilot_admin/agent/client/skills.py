"""The user's skills that a model may load in a turn, and the list of them that it is shown."""

import json

from copilot_admin.agent.values.turn import messages_of_turn
from protocol.functions import GET_SKILL_CONTENT
from protocol.json import Json, JsonObject
from protocol.models import Query, ResultMessage

MOST_SKILLS = 200  # of the catalog that a model is shown
_LONGEST = 500  # characters of a description


def offered_skills(query: Query) -> tuple[JsonObject, ...]:
    """What may be loaded: nothing more once a skill was chosen or loaded in this turn."""
    if query.selected_skills or _was_loaded(query):
        return ()
    return query.skills_catalog


def catalog_text(query: Query) -> str:
    """The list for the system prompt; empty when there is nothing to load.

    Descriptions are written by users, so they stand between the marks of data.
    """
    skills = offered_skills(query)
    if not skills:
        return ""
    lines = [json.dumps(_row(skill), ensure_ascii=False) for skill in skills[:MOST_SKILLS]]
    text = "\n".join(lines).replace("</data>", "<\\/data>")
    return f'<data source="skills that {GET_SKILL_CONTENT} can load">\n{text}\n</data>'


def _row(skill: JsonObject) -> dict[str, Json]:
    return {"slug": skill["slug"], "description": str(skill.get("description") or "")[:_LONGEST]}


def _was_loaded(query: Query) -> bool:
    return any(
        isinstance(message, ResultMessage) and message.function == GET_SKILL_CONTENT
        for message in messages_of_turn(query)
    )
