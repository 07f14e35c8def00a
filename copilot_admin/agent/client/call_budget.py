"""How often one question may call the client, and what is said where it was often enough.

A client function is a round trip through the user's browser; a model that goes in circles would
make one after the other.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from copilot_admin.agent.values.engine_input import Recollection
from copilot_admin.agent.values.spec import CopilotSpec
from copilot_admin.agent.values.turn import client_calls
from protocol.functions import GET_WIDGET_DATA, WIDGET_DATA_FUNCTIONS
from protocol.models import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class CallWords:
    """How people are told that a function is not called again.

    Attributes:
        done: What was done so often: "Tools were already called".
        no_more: What follows for this answer: "no more tools are called".
        missing: What the client did not bring back.
        advice: What to do.
    """

    done: str = "Workspace was already asked for this"
    no_more: str = "it is not asked for it again"
    missing: str = "the result of what it was asked to do"
    advice: str = "Ask again to go on."


WIDGET_DATA_WORDS = CallWords(
    done="The dashboard was already asked for data",
    no_more="this answer uses what there is",
    missing="the data it was asked for",
    advice="Ask again about fewer widgets.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBudget:
    """What a question has used of the calls that it may make.

    Attributes:
        made: Calls of each function; all functions for the data of widgets count as one.
        in_all: Calls of all functions, also of those whose name is not known.
        limits: The most calls of single functions.
        most: The most calls of all functions together.
        looped: The client asked the same again without what it was called for.
    """

    made: Mapping[str, int] = field(default_factory=dict)
    in_all: int = 0
    limits: Mapping[str, int] = field(default_factory=dict)
    most: int
    looped: bool = False

    def refusal(self, function: str, words: CallWords) -> str:
        """Why the function is not called again for this question; empty while it may be."""
        if self.looped:
            return (
                f"The dashboard sent the question again without {words.missing}, so this answer "
                "does without it. Ask again in a new chat if it should not."
            )
        name = _counted_as(function)
        limit = self.limits.get(name)
        if limit is not None and self.made.get(name, 0) >= limit:
            return (
                f"{words.done} {_times(limit)} for this question, so {words.no_more}. "
                f"{words.advice}"
            )
        if self.in_all >= self.most:
            return (
                f"Workspace was already called {_times(self.most)} for this question, so "
                f"{words.no_more}. Ask again to go on."
            )
        return ""


def call_budget(spec: CopilotSpec, *, query: Query, recollection: Recollection) -> CallBudget:
    """What is left to a question, by its history or by what the server remembers, if that is more.

    A client may leave calls and results out of the history that it sends.
    """
    said, remembered = _by_name(client_calls(query)), _by_name(recollection.client_calls)
    return CallBudget(
        made=said | remembered,  # of each the larger number
        in_all=max(said.total(), remembered.total()),
        limits={limit.function: limit.most for limit in spec.client_call_limits},
        most=spec.max_client_calls,
        looped=recollection.looped,
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
