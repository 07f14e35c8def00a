"""Limits of the client calls of a question, and of the size of one call.

A client function is a round trip through the user's browser, which repeats the call with every
later request of the turn. A model in a loop would make one call after the other.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
import json

from copilot_admin.agent.text import quote
from copilot_admin.agent.tools.tool import ToolMistake
from copilot_admin.agent.values.answer_request import StoredTurn
from copilot_admin.agent.values.spec import CopilotSpec
from copilot_admin.agent.values.turn import client_calls
from protocol.functions import (
    EXECUTE_AGENT_TOOL,
    GET_WIDGET_DATA,
    WIDGET_DATA_FUNCTIONS,
    DataSource,
)
from protocol.json import JsonObject
from protocol.models import Query

MAX_SOURCES = 500  # widgets; the browser sends a request or more for each
MAX_CHARACTERS = 1024 * 1024  # of a call's arguments


# The action that reached its limit, and the consequence for this answer.
_MESSAGES = {
    GET_WIDGET_DATA: (
        "The dashboard was already asked for data",
        "this answer uses what there is",
    ),
    EXECUTE_AGENT_TOOL: ("Tools were already called", "no more tools are called"),
}


class CallBudget:
    """The calls that a question has made and may make, from its history and the server's record.

    The larger number counts: a client may omit calls from its history. Functions for the data of
    widgets count as one; `in_all` counts all functions, including unknown ones.
    """

    def __init__(self, spec: CopilotSpec, *, query: Query, stored_turn: StoredTurn) -> None:
        sent, stored = _count_calls(client_calls(query)), _count_calls(stored_turn.client_calls)
        self.in_all = max(sent.total(), stored.total())
        self._made = sent | stored
        self._limits = {limit.function: limit.most for limit in spec.client_call_limits}
        self._most = spec.max_client_calls
        self._is_retry_loop = stored_turn.is_retry_loop

    def refusal(self, function: str, *, label: str) -> str:
        """Return the reason why the function isn't called again for this question, or ""."""
        name = _counted_as(function)
        other = f"{label}: Workspace was already asked for this", "it is not asked for it again"
        done, no_more = _MESSAGES.get(name, other)
        is_data = name == GET_WIDGET_DATA
        if self._is_retry_loop:
            missing = "data it was asked for" if is_data else "result of what it was asked to do"
            return (
                f"The dashboard sent the question again without the {missing}, so this answer does "
                "without it. Ask again in a new chat if it should not."
            )
        limit, advice = self._limits.get(name), "Ask again to go on."
        if limit is not None and self._made[name] >= limit:
            advice = "Ask again about fewer widgets." if is_data else advice
        elif self.in_all >= self._most:
            done, limit = "Workspace was already called", self._most
        else:
            return ""
        times = "once" if limit == 1 else f"{limit} times"
        return f"{done} {times} for this question, so {no_more}. {advice}"


def _count_calls(calls: Mapping[str, int]) -> Counter[str]:
    return Counter(map(_counted_as, Counter(calls).elements()))


def _counted_as(function: str) -> str:
    return GET_WIDGET_DATA if function in WIDGET_DATA_FUNCTIONS else function


def check_size(function: str, arguments: JsonObject) -> None:
    """Raise a `ToolMistake` if a call is too long; it includes widget and agent data."""
    if json_size(arguments) > MAX_CHARACTERS:
        raise ToolMistake(
            f"The call of {quote(function)} is longer than 1 MB, with what Workspace knows of the "
            "widgets and agents that it names. Ask for less at once."
        )


def fit_in_one_call(sources: Iterable[DataSource]) -> tuple[DataSource, ...]:
    """Return the sources that fit into one call, without those that are too large."""
    taken: list[DataSource] = []
    characters = 0
    for source in sources:
        size = json_size(source.to_json())
        if len(taken) < MAX_SOURCES and characters + size <= MAX_CHARACTERS:
            taken.append(source)
            characters += size
    return tuple(taken)


def json_size(value: JsonObject) -> int:
    return len(json.dumps(value, ensure_ascii=False))
