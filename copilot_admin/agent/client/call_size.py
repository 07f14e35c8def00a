"""How much one call of the client may ask for.

A client carries out what it is told in the user's browser, and repeats the call with every later
request of the turn. What a call names comes from the request: a widget with a megabyte of arguments may
be named five hundred times.
"""

from collections.abc import Iterable
import json

from copilot_admin.agent.toolkits.texts import quoted
from copilot_admin.agent.tools.tool_arguments import ToolMistake
from protocol.functions import GET_WIDGET_DATA, DataSource
from protocol.json import JsonObject

# Widgets. The largest dashboards have some hundred; the browser sends one request or more for each.
MOST_SOURCES = 500
MOST_CHARACTERS = 1024 * 1024  # as much as a model may write for all of its calls


def check_arguments(function: str, arguments: JsonObject) -> None:
    """Looks whether a client may be asked for so much at once.

    Raises:
        ToolMistake: It is too much.
    """
    if len(json.dumps(arguments)) > MOST_CHARACTERS:
        raise ToolMistake(
            f"The call of {quoted(function)} is longer than 1 MB, with what Workspace knows of the "
            "widgets and agents that it names. Ask for less at once."
        )


def check_count(wanted: int) -> None:
    """Looks whether the data of so many widgets may be wanted in one answer of a model.

    Raises:
        ToolMistake: They are too many.
    """
    if wanted > MOST_SOURCES:
        raise ToolMistake(
            f"The data of more than {MOST_SOURCES} widgets is wanted at once. Ask for that which the "
            "answer needs."
        )


def at_once(sources: Iterable[DataSource]) -> tuple[DataSource, ...]:
    """Those that one call may ask for; one that is too large is passed over for the others."""
    taken: list[DataSource] = []
    room = MOST_CHARACTERS
    for source in sources:
        if len(taken) == MOST_SOURCES:
            break
        left = room - len(json.dumps(source.to_json()))
        if left >= 0:
            taken.append(source)
            room = left
    return tuple(taken)


def told_to_model(left_over: int) -> str:
    """What a model is told of selected widgets that were not asked for; empty where there are none."""
    if not left_over:
        return ""
    return (
        f"The data of {left_over:,} more selected widgets was not fetched, since that would be too much at once. "
        f"If the answer needs it, ask for it with {GET_WIDGET_DATA}; else say that it is missing."
    )


def told_to_user(left_over: int) -> str:
    """What the user is told of them."""
    return (
        f"The data of {left_over:,} selected widgets was not fetched, since that would be too much at once. "
        "Select fewer to have all of it."
    )
