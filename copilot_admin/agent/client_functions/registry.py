"""Finds the client functions: every module of this folder that declares one.

A client function is carried out by Workspace. It says which tools it offers to the model in a
situation, and turns what the model wrote into the arguments that Workspace expects. The leg ends
with the call; the next one begins with its result. Widget data has rules of its own and stands in
`engine/client/widget_data.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import ClassVar, TypeAlias

from pydantic import BaseModel

from copilot_admin.agent import client_functions
from copilot_admin.agent.client.call_budget import CallWords
from copilot_admin.agent.client_functions.samples import Sample
from copilot_admin.agent.tools.tool_arguments import schema_of, tool_name
from copilot_admin.agent.values.model_call import ToolCall, ToolSchema
from copilot_admin.agent.values.spec import CopilotSpec
from copilot_admin.agent.values.turn import may_call_client
from protocol.functions import GET_WIDGET_DATA, WIDGET_DATA_FUNCTIONS
from protocol.json import JsonObject
from protocol.models import Generation, Query, ResultMessage, SourceResult, Widget

WIDGET_DATA_LABEL = "Data of widgets"
Identity: TypeAlias = tuple[str, ...]
LONGEST_NAME = 64  # of a tool; what every vendor accepts
_ROOM = 8  # characters for a number behind it


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What decides which client functions a leg offers.

    Attributes:
        widgets: Those that the model may ask for in this leg.
    """

    spec: CopilotSpec
    query: Query
    widgets: tuple[Widget, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A tool that the model may call; it is carried out by the client or answered here.

    Both callables raise `ToolMistake`, whose text tells the model what would be right.

    Attributes:
        function: The client function that is called for it.
        arguments: Makes the function's `input_arguments` of the model's call.
        answer: Answers the model's call without the client.
        state: What of the model's call the client reads in `extra_state`.
        unlisted: The model is not told of it; it is understood if it is called nevertheless.
        identity: What sets it apart from other tools of the same function.
    """

    schema: ToolSchema
    function: str
    arguments: Callable[[ToolCall], JsonObject] | None = None
    answer: Callable[[ToolCall], str] | None = None
    state: Callable[[ToolCall], JsonObject] = lambda call: {}
    unlisted: bool = False
    identity: Identity = ()


class ClientFunction(ABC):
    """One function of Workspace, known to generation 3 alone.

    Attributes:
        name: On the wire.
        samples: Calls that work; the contract is checked with them.
        only_reads: Nothing is changed or done by it.
        label: What builders call it who limit how often it is called.
        words: What the user is told where it was called often enough.
        without_result: What the model is told where nothing came back.
    """

    name: ClassVar[str]
    only_reads: ClassVar[bool] = False
    label: ClassVar[str] = ""
    words: ClassVar[CallWords] = CallWords()
    without_result: ClassVar[str] = "(no result)"
    samples: ClassVar[Sequence[Sample]]

    @abstractmethod
    def offers(self, situation: Situation) -> Iterable[Offer]:
        """The tools that it adds in a situation; none where it cannot be called."""

    def recalled(self, arguments: JsonObject, query: Query) -> tuple[str, JsonObject]:
        """An earlier call as the model wrote it: the name of the tool, and its arguments."""
        return self.name, arguments

    def identity(self, arguments: JsonObject) -> Identity:
        """Which of the function's tools made an earlier call; empty where it has only one."""
        return ()

    def result_text(self, result: SourceResult) -> str | None:
        """What the model is told of a result; None: the result as data."""
        return None

    def offer(self, arguments: type[BaseModel], read: Callable[[ToolCall], JsonObject]) -> Offer:
        """An offer under the function's own name; the docstring of the arguments describes it."""
        schema = described(self.name, arguments)
        return Offer(schema=schema, function=self.name, arguments=read)


def described(name: str, arguments: type[BaseModel]) -> ToolSchema:
    """A tool whose description is the docstring of its arguments."""
    schema = {key: one for key, one in schema_of(arguments).items() if key != "description"}
    text = " ".join((arguments.__doc__ or "").split())
    return ToolSchema(name=name, description=text, parameters=schema)


def offers_in(situation: Situation, *, taken: Iterable[str]) -> Mapping[str, Offer]:
    """All offers by the name of their tool; a name that is taken gets a number.

    Args:
        situation: Of the leg.
        taken: Names of the copilot's other tools.
    """
    if situation.query.generation is not Generation.THREE or _brings_nothing(situation.query):
        return {}
    found: dict[str, Offer] = {}
    names = _FreeNames({*taken, *_functions()})
    for function in _functions().values():
        for offer in function.offers(situation):
            name = offer.schema.name
            if name != function.name:
                name = names.take(name)
            found[name] = _named(offer, name)
    return found


def _brings_nothing(query: Query) -> bool:
    return not (may_call_client(query) or query.selected_skills)


def _named(offer: Offer, name: str) -> Offer:
    if name == offer.schema.name:
        return offer
    return replace(offer, schema=replace(offer.schema, name=name))


def names_in_history(
    query: Query, *, offers: Mapping[str, Offer], taken: Iterable[str]
) -> Mapping[tuple[str, Identity], str]:
    """What the model calls the tools of earlier calls, by function and identity.

    A tool that is offered has the name of its offer. One that is not offered any more has a name
    that no other tool has, so that nothing it did is taken for the work of another.

    Args:
        query: With the conversation.
        offers: Of this leg, by the name of their tool.
        taken: Names of the copilot's other tools.
    """
    found = {
        (offer.function, offer.identity): name for name, offer in offers.items() if offer.identity
    }
    results = [one for one in query.messages if isinstance(one, ResultMessage)]
    if not results:
        return found
    names = _FreeNames({*taken, *_functions(), *offers})
    for message in results:
        function = function_named(message.function)
        if function is None:
            continue
        identity = function.identity(message.input_arguments)
        if identity and (function.name, identity) not in found:
            wanted, _ = function.recalled(message.input_arguments, query)
            found[function.name, identity] = names.take(wanted)
    return found


def function_named(name: str) -> ClientFunction | None:
    """The client function with this name on the wire."""
    return _functions().get(name)


class _FreeNames:
    """Gives each tool a name that no other has; no number is tried twice.

    A request may list tens of thousands of tools, all of the same name.
    """

    def __init__(self, used: set[str]) -> None:
        self._used = used
        self._numbers: dict[str, int] = {}  # the last one tried, by what stands before it

    def take(self, wanted: str) -> str:
        """The name, with a number where it is used; it is used from here on."""
        name = plain = tool_name(wanted)
        head = plain[: LONGEST_NAME - _ROOM]
        number = self._numbers.get(head, 1)
        while name in self._used:
            number += 1
            suffix = f"_{number}"
            name = plain[: LONGEST_NAME - len(suffix)] + suffix
        self._numbers[head] = number
        self._used.add(name)
        return name


@cache
def _functions() -> Mapping[str, ClientFunction]:
    return {function.name: function for function in _declared()}


def _declared() -> Iterator[ClientFunction]:
    for module in iter_modules(client_functions.__path__):
        for value in vars(import_module(f"{client_functions.__name__}.{module.name}")).values():
            is_class = isinstance(value, type) and issubclass(value, ClientFunction)
            if is_class and "name" in vars(value):
                yield value()


def names() -> Sequence[str]:
    """The names of all client functions, in alphabetical order."""
    return sorted(_functions())


def labels() -> Mapping[str, str]:
    """What builders call the functions, by name; those for the data of widgets are one."""
    found = {
        name: function.label or name
        for name, function in _functions().items()
        if name not in WIDGET_DATA_FUNCTIONS
    }
    return {GET_WIDGET_DATA: WIDGET_DATA_LABEL, **found}
