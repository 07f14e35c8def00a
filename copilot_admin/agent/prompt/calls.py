"""Calls and their results, in the shape in which the model makes such calls itself."""

from collections.abc import Iterator, Mapping, Sequence
import json
from typing import TypeAlias

from copilot_admin.agent.client.widget_data import name_of
from copilot_admin.agent.client_functions.base import ClientFunction, Identity
from copilot_admin.agent.client_functions.registry import function_named
from copilot_admin.agent.prompt.blocks import OLD_DATA, block
from copilot_admin.agent.prompt.data_messages import instance_of, is_widget_data
from copilot_admin.agent.prompt.room import DataRoom
from copilot_admin.agent.tools.tool_arguments import tool_name
from copilot_admin.agent.values.answer_request import Memory
from copilot_admin.agent.values.model_call import ModelMessage, ModelRole, ToolCall
from copilot_admin.agent.values.turn import Fetched, fetched_by
from protocol.functions import GET_WIDGET_DATA, WIDGET_DATA_FUNCTIONS
from protocol.json import Json, JsonObject
from protocol.models import Query, ResultMessage

Names: TypeAlias = Mapping[tuple[str, Identity], str]


def call_and_result(
    message: ResultMessage,
    *,
    number: int,
    query: Query,
    room: DataRoom,
    noted: frozenset[str] | None,
    names: Names,
    memory: Memory | None = None,
) -> tuple[ModelMessage, ...]:
    """A call and its result, in the shape in which the model makes such calls itself.

    Where the data of widgets is `noted` in Data messages (None: it is not), the result only says
    where it stands.
    """
    fetched = tuple(fetched_by(message, widgets=query.widgets))
    name, arguments = _made(message, fetched, query=query, names=names)
    call = ToolCall(
        id=f"call{number:05}",  # nine letters and digits: some vendors accept nothing else
        name=name,
        arguments=json.dumps(arguments, ensure_ascii=False),
        extras=memory.extras if memory else None,
    )
    blocks = [
        f"(see ## Data: ¶widget_data, _instance: {instance_of(one, several=noted)})"
        if noted is not None and is_widget_data(message, one)
        else _result_block(one, name=name, message=message, room=room)
        for one in fetched
    ]
    function = function_named(message.function)
    nothing = function.without_result if function else ClientFunction.without_result
    text = "\n\n".join(blocks) or nothing
    return (
        ModelMessage(role=ModelRole.ASSISTANT, text="", tool_calls=(call,)),
        ModelMessage(role=ModelRole.TOOL, text=text, tool_call_id=call.id),
    )


def done_before(memory: Memory | None, *, number: int, room: DataRoom) -> Iterator[ModelMessage]:
    """What ran on the server before the client was called; the client carried it here."""
    for index, done in enumerate(memory.exchanges if memory else ()):
        id = f"k{number:04}{index:04}"  # nine letters and digits, as above
        call = ToolCall(id=id, name=done.name, arguments=done.arguments, extras=done.extras)
        yield ModelMessage(role=ModelRole.ASSISTANT, text="", tool_calls=(call,))
        result = room.take(done.result) if room.left else OLD_DATA
        yield ModelMessage(role=ModelRole.TOOL, text=result, tool_call_id=id)


def _made(
    message: ResultMessage, fetched: Sequence[Fetched], *, query: Query, names: Names
) -> tuple[str, JsonObject]:
    if message.function in WIDGET_DATA_FUNCTIONS:
        return GET_WIDGET_DATA, {"widgets": [_wanted(one) for one in fetched]}
    function = function_named(message.function)
    if function is None:
        return tool_name(message.function), message.input_arguments
    name, arguments = function.to_tool_call(message.input_arguments, query)
    return names.get((function.name, function.identity(message.input_arguments)), name), arguments


def _wanted(fetched: Fetched) -> JsonObject:
    source = fetched.source
    named = source.widget_uuid or f"{source.origin}/{source.id}"
    wanted: dict[str, Json] = {"id": fetched.widget.ref if fetched.widget else named}
    if source.input_args:
        wanted["params"] = source.input_args
    return wanted


def _result_block(fetched: Fetched, *, name: str, message: ResultMessage, room: DataRoom) -> str:
    function = function_named(message.function)
    said = function.result_text(fetched.result) if function else None
    if said is not None:
        return room.take(said)
    if message.function not in WIDGET_DATA_FUNCTIONS:
        named = name if function else message.function
        return block(room.told(fetched.result, source=named), room=room, source=named)
    source = fetched.source
    widget = name_of(fetched.widget) if fetched.widget else source.id or source.widget_uuid or ""
    text = room.told(fetched.result, source=widget)
    return block(text, room=room, source=widget, arguments=source.input_args)
