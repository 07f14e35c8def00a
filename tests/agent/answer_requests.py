"""Smallest valid queries and requests for the agent; keyword arguments change them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

from copilot_admin.agent.llm import model_stream
from copilot_admin.agent.loop import answer
from copilot_admin.agent.values.answer_request import AnswerRequest, Output, StoredTurn
from copilot_admin.agent.values.model_call import ModelProvider
from copilot_admin.agent.values.spec import CopilotSpec, ProviderSpec
from protocol.functions import DataSource, get_widget_data_call
from protocol.json import Json, JsonObject
from protocol.models import (
    CallMessage,
    DataItem,
    HumanMessage,
    Message,
    Query,
    ResultMessage,
    SourceData,
    SourceResult,
    Widget,
    WidgetParam,
    Widgets,
)

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
KEY = b"a signing key of thirty-two byte"
PROVIDER = ProviderSpec(name="local", kind="scripted")


def make_spec(**changes: Any) -> CopilotSpec:
    """Return a copilot with the scripted provider."""
    fields = {"slug": "macro", "name": "Macro", "provider": PROVIDER, "model": "small", **changes}
    return CopilotSpec(**fields)


def make_query(*messages: Message, **changes: Any) -> Query:
    """Return a query of generation 3 with one question, unless messages are given."""
    return Query(messages=messages or (HumanMessage("What moved?"),), **changes)


def make_request(
    provider: ModelProvider,
    *,
    query: Query | None = None,
    spec: CopilotSpec | None = None,
    **changes: Any,
) -> AnswerRequest:
    """Return a request with fixed time, trace id and key."""
    return AnswerRequest(
        spec=spec or make_spec(),
        query=query or make_query(),
        provider=provider,
        now=NOW,
        trace_id="chat-1",
        signing_key=KEY,
        **changes,
    )


def loading(stored_turn: StoredTurn) -> Callable[[], Awaitable[StoredTurn]]:
    """Return a loader of this stored turn."""

    async def load_stored_turn() -> StoredTurn:
        return stored_turn

    return load_stored_turn


def never_loaded() -> Awaitable[StoredTurn]:
    """Loader that must not be called."""
    raise AssertionError("the answer does not depend on the stored turn")


def outputs_of(request: AnswerRequest) -> list[Output]:
    """Return everything that the agent sends for a request."""
    outputs: list[Output] = []
    with patch.object(model_stream, "MIN_PAUSE_SECONDS", 0):
        asyncio.run(answer(request, outputs.append))
    return outputs


def events_of(request: AnswerRequest) -> list[Output]:
    """Return the events for the client."""
    return [one for one in outputs_of(request) if hasattr(one, "understood_since")]


def make_widget(number: int = 1, **changes: Any) -> Widget:
    """Return a widget with one parameter that has a value."""
    fields = {
        "uuid": f"{number:08d}-6f54-4f7c-9b3a-0d4c7d3f1a01",
        "origin": "OpenBB API",
        "widget_id": f"prices_{number}",
        "name": f"Prices {number}",
        "description": f"Prices of symbol {number}.",
        "params": (WidgetParam(name="symbol", current_value=f"SYM{number}"),),
        **changes,
    }
    return Widget(**fields)


def asked_arguments(*widgets: Widget) -> dict[str, Json]:
    """Return the arguments of a call for these widgets, as a client echoes them."""
    return get_widget_data_call(
        DataSource(
            widget_uuid=one.uuid, origin=one.origin, id=one.widget_id, input_args=one.input_args()
        )
        for one in widgets
    )


def data(*texts: str, data_format: JsonObject | None = None, citable: bool = True) -> SourceData:
    """Return a source with these texts."""
    about = {"data_format": data_format or {}, "citable": citable}
    return SourceData(tuple(DataItem(content=text, **about) for text in texts))


def fetched_pair(
    widgets: Sequence[Widget], *results: SourceResult, extra_state: JsonObject | None = None
) -> tuple[Message, ...]:
    """Return the call and the result that a client sends in the second step."""
    arguments = asked_arguments(*widgets)
    return (
        CallMessage("get_widget_data", arguments),
        ResultMessage("get_widget_data", arguments, results, extra_state or {}),
    )


def second_step(widget: Widget, *results: SourceResult, **changes: Any) -> Query:
    """Return a query whose last message is the data of one selected widget."""
    return make_query(
        HumanMessage("What moved?"),
        *fetched_pair([widget], *results),
        widgets=Widgets(primary=(widget,)),
        **changes,
    )
