"""Limits of the client calls of a question, and of the size of one call.

A client function is a round trip through the user's browser, which repeats the call with every
later request of the turn. A model in a loop would make one call after the other.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
import json

from copilot_admin.agent.text import quote
from copilot_admin.agent.tools.tool_arguments import ToolMistake
from copilot_admin.agent.values.answer_request import StoredTurn
from copilot_admin.agent.values.spec import CopilotSpec
from copilot_admin.agent.values.turn import client_calls
from protocol.functions import GET_WIDGET_DATA, WIDGET_DATA_FUNCTIONS, DataSource
from protocol.json import JsonObject
from protocol.models import Query

MAX_SOURCES = 500  # widgets; the browser sends a request or more for each
MAX_CHARACTERS = 1024 * 1024  # of a call's arguments
_NO_RESULT = "the result of what it was asked to do"


@dataclass(frozen=True, slots=True)
class CallLimitMessages:
    """The action that reached its limit, and the consequence for this answer."""

    done: str = "Workspace was already asked for this"
    no_more: str = "it is not asked for it again"


WIDGET_DATA_MESSAGES = CallLimitMessages(
    "The dashboard was already asked for data", "this answer uses what there is"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBudget:
    """The calls that a question has made and may make.

    Attributes:
        made: Calls of each function; those for the data of widgets count as one function.
        in_all: Calls of all functions, including unknown ones.
        limits: Limits of single functions.
        most: Limit of all functions together.
        is_retry_loop: The client repeated its request without the result of the call.
    """

    made: Mapping[str, int] = field(default_factory=dict)
    in_all: int = 0
    limits: Mapping[str, int] = field(default_factory=dict)
    most: int
    is_retry_loop: bool = False

    def refusal(self, function: str, messages: CallLimitMessages) -> str:
        """Return the reason why the function isn't called again for this question, or ""."""
        name = _counted_as(function)
        is_data = name == GET_WIDGET_DATA
        if self.is_retry_loop:
            missing = "the data it was asked for" if is_data else _NO_RESULT
            return (
                f"The dashboard sent the question again without {missing}, so this answer does "
                "without it. Ask again in a new chat if it should not."
            )
        limit = self.limits.get(name)
        if limit is not None and self.made.get(name, 0) >= limit:
            advice = "Ask again about fewer widgets." if is_data else "Ask again to go on."
            return (
                f"{messages.done} {_times(limit)} for this question, so {messages.no_more}. "
                f"{advice}"
            )
        if self.in_all >= self.most:
            return (
                f"Workspace was already called {_times(self.most)} for this question, so "
                f"{messages.no_more}. Ask again to go on."
            )
        return ""


def call_budget(spec: CopilotSpec, *, query: Query, stored_turn: StoredTurn) -> CallBudget:
    """Return the budget of a question, from its history and the server's record.

    The larger number counts: a client may omit calls from its history.
    """
    sent, remembered = _by_name(client_calls(query)), _by_name(stored_turn.client_calls)
    return CallBudget(
        made=sent | remembered,
        in_all=max(sent.total(), remembered.total()),
        limits={limit.function: limit.most for limit in spec.client_call_limits},
        most=spec.max_client_calls,
        is_retry_loop=stored_turn.is_retry_loop,
    )


def _by_name(calls: Mapping[str, int]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for function, times in calls.items():
        counted[_counted_as(function)] += times
    return counted


def _counted_as(function: str) -> str:
    return GET_WIDGET_DATA if function in WIDGET_DATA_FUNCTIONS else function


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def check_size(function: str, arguments: JsonObject) -> None:
    """Check the size of a call; it includes widget and agent data of the request.

    Raises:
        ToolMistake: The arguments are too long.
    """
    if _size_of(arguments) > MAX_CHARACTERS:
        raise ToolMistake(
            f"The call of {quote(function)} is longer than 1 MB, with what Workspace knows of the "
            "widgets and agents that it names. Ask for less at once."
        )


def fit_in_one_call(sources: Iterable[DataSource]) -> tuple[DataSource, ...]:
    """Return the sources that fit into one call, without those that are too large."""
    taken: list[DataSource] = []
    characters = 0
    for source in sources:
        size = _size_of(source.to_json())
        if len(taken) < MAX_SOURCES and characters + size <= MAX_CHARACTERS:
            taken.append(source)
            characters += size
    return tuple(taken)


def _size_of(value: JsonObject) -> int:
    return len(json.dumps(value, ensure_ascii=False))
