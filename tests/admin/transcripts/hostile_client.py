"""A client that has one text in all places of a request that a transcript shows."""

import json
from typing import Any

from protocol.models import (
    AiMessage,
    CallMessage,
    CommandResult,
    ContextItem,
    DataItem,
    FileReference,
    HumanMessage,
    Message,
    ResultMessage,
    SourceData,
    SourceError,
    Widget,
    WidgetParam,
    Widgets,
)

CALLED = ("get_widget_data", "add_widget_to_dashboard", "execute_agent_tool")


def earlier_messages(text: str) -> list[Message]:
    """Questions, answers, calls and results that this server is told of."""
    said: list[Message] = [HumanMessage(text, agent_id=text), AiMessage(text, agent_id=text)]
    for function in (*CALLED, text):
        arguments = _arguments(text)
        said += [CallMessage(function, arguments), ResultMessage(function, arguments, _data(text))]
    return said


def what_it_brings(text: str) -> dict[str, Any]:
    """What a query has besides its messages."""
    widget = Widget(
        origin=text, widget_id=text, uuid=text, name=text, description=text, source=text,
        params=(WidgetParam(name=text, description=text, current_value=text, options=(text,)),),
        metadata={text: text}, category=text, sub_category=text, columns=(text,),
    )  # fmt: skip
    tab = {"tab_id": text, "name": text, "widgets": [{"widget_uuid": text, "name": text}]}
    return {
        "widgets": Widgets(primary=(widget,), secondary=(widget,), extra=(widget,)),
        "context": (ContextItem(uuid=text, name=text, description=text, metadata={text: text}),),
        "workspace_options": {text: text},
        "workspace_state": {"current_dashboard_info": {"name": text, "tabs": [tab]}, text: text},
    }


def _arguments(text: str) -> dict[str, Any]:
    source = {"widget_uuid": text, "origin": text, "id": text, "input_args": {text: text}}
    return {"data_sources": [source], "server_id": text, "tool_name": text, text: [text]}


def _data(text: str) -> tuple[SourceData | SourceError | CommandResult, ...]:
    rows = json.dumps([{text: text, "n": 1}, {text: [text], "n": text}])
    items = (
        DataItem(content=rows, data_format={"data_type": "object", "parse_as": "table"}),
        DataItem(content=rows, data_format={"data_type": text, "filename": text}),
        DataItem(content=text),
        FileReference(url=text, data_format={"data_type": "pdf", "filename": text}),
        FileReference(url=f"https://a.test/{text}", data_format={"filename": text}),
    )
    cited = ({"source_info": {"name": text}, "details": [{text: text}]},)
    return (
        SourceData(items, cited),
        SourceError(text, text),
        CommandResult(text, text, {text: text}, {"widget_uuid": text}),
    )
