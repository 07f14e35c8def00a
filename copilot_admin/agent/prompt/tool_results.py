"""Earlier client calls and server tools as messages for the model."""

from collections.abc import Iterator, Mapping, Sequence
import json
from typing import TypeAlias

from copilot_admin.agent.client.widget_data import name_of
from copilot_admin.agent.client.workspace import escape_data
from copilot_admin.agent.client_functions.base import ClientFunction, Identity
from copilot_admin.agent.client_functions.registry import function_named
from copilot_admin.agent.prompt.data_messages import instance_of, is_widget_data
from copilot_admin.agent.prompt.truncation import ContextBudget
from copilot_admin.agent.tools.tool import tool_name
from copilot_admin.agent.values.answer_request import Memory
from copilot_admin.agent.values.model_call import ModelMessage, ModelRole, ToolCall
from copilot_admin.agent.values.turn import Fetched, fetched_by
from protocol.functions import GET_WIDGET_DATA, WIDGET_DATA_FUNCTIONS
from protocol.json import Json, JsonObject
from protocol.models import Query, ResultMessage, SourceResult

Names: TypeAlias = Mapping[tuple[str, Identity], str]


def data_block(result: SourceResult, *, budget: ContextBudget, source: str, **about: Json) -> str:
    """Return the part of a result that fits, with its source, between unforgeable marks."""
    text = budget.spend(budget.truncate_result(result, source=source))
    notes = {"source": source, **{key: value for key, value in about.items() if value}}
    marks = " ".join(f"{key}={json.dumps(note, ensure_ascii=False)}" for key, note in notes.items())
    return f"<data {escape_data(marks)}>\n{escape_data(text)}\n</data>"


def client_call_messages(
    message: ResultMessage,
    *,
    number: int,
    query: Query,
    budget: ContextBudget,
    noted: frozenset[str] | None,
    names: Names,
    memory: Memory | None = None,
) -> tuple[ModelMessage, ...]:
    """Return a client call and its result in the model's own format.

    If widget data is in Data messages (`noted`), the result only refers to it.
    """
    fetched = tuple(fetched_by(message, widgets=query.widgets))
    name, arguments = _tool_call(message, fetched, query=query, names=names)
    call = ToolCall(
        id=f"call{number:05}",  # nine letters and digits: some vendors accept nothing else
        name=name,
        arguments=json.dumps(arguments, ensure_ascii=False),
        extras=memory.extras if memory else None,
    )
    blocks = [
        f"(see ## Data: ¶widget_data, _instance: {instance_of(one, several=noted)})"
        if noted is not None and is_widget_data(message, one)
        else _result_block(one, name=name, message=message, budget=budget)
        for one in fetched
    ]
    function = function_named(message.function)
    nothing = function.without_result if function else ClientFunction.without_result
    text = "\n\n".join(blocks) or nothing
    return (
        ModelMessage(role=ModelRole.ASSISTANT, text="", tool_calls=(call,)),
        ModelMessage(role=ModelRole.TOOL, text=text, tool_call_id=call.id),
    )


def server_tool_messages(
    memory: Memory | None, *, number: int, budget: ContextBudget
) -> Iterator[ModelMessage]:
    """Yield the server tools that ran before the client call and were carried with it."""
    for index, done in enumerate(memory.exchanges if memory else ()):
        id = f"k{number:04}{index:04}"  # nine letters and digits, as above
        call = ToolCall(id=id, name=done.name, arguments=done.arguments, extras=done.extras)
        yield ModelMessage(role=ModelRole.ASSISTANT, text="", tool_calls=(call,))
        result = budget.spend(done.result)
        yield ModelMessage(role=ModelRole.TOOL, text=result, tool_call_id=id)


def _tool_call(
    message: ResultMessage, fetched: Sequence[Fetched], *, query: Query, names: Names
) -> tuple[str, JsonObject]:
    if message.function in WIDGET_DATA_FUNCTIONS:
        requests: list[Json] = [
            {"id": one.ref, **({"params": one.source.input_args} if one.source.input_args else {})}
            for one in fetched
        ]
        return GET_WIDGET_DATA, {"widgets": requests}
    function = function_named(message.function)
    if function is None:
        return tool_name(message.function), message.input_arguments
    name, arguments = function.to_tool_call(message.input_arguments, query)
    return names.get((function.name, function.identity(message.input_arguments)), name), arguments


def _result_block(
    fetched: Fetched, *, name: str, message: ResultMessage, budget: ContextBudget
) -> str:
    function = function_named(message.function)
    answer = function.result_text(fetched.result) if function else None
    if answer is not None:
        budget.spend(answer)
        return answer
    if message.function not in WIDGET_DATA_FUNCTIONS:
        source = name if function else message.function
        return data_block(fetched.result, budget=budget, source=source)
    asked = fetched.source
    source = name_of(fetched.widget) if fetched.widget else asked.id or asked.widget_uuid or ""
    return data_block(fetched.result, budget=budget, source=source, arguments=asked.input_args)
