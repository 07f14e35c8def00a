"""What the server's tools gave before the client was called is not lost in the next step."""

import pytest

from copilot_admin.agent.client.client_state import (
    MAX_CARRIED,
    NOT_CARRIED,
    read_memory,
)
from copilot_admin.agent.values.answer_request import Output, ToolExchange
from copilot_admin.agent.values.spec import ComponentUse, WidgetDataMode
from protocol.events import FunctionCall
from protocol.models import HumanMessage, Widgets
from tests.agent.answer_requests import (
    events_of,
    make_query,
    make_request,
    make_spec,
    make_widget,
)
from tests.agent.components.sample_components import sample_components
from tests.agent.scripted import ScriptedProvider, Step, call

__all__ = ["sample_components"]
pytestmark = pytest.mark.usefixtures("sample_components")

WIDGET = make_widget()
WIDGETS = Widgets(primary=(WIDGET,))
SPEC = make_spec(
    widget_data=WidgetDataMode.ASK,
    tools=("table",),
    components=(ComponentUse(name="echo", version="v1"),),
)


def answered_once(*steps: Step) -> list[Output]:
    query = make_query(HumanMessage("q"), widgets=WIDGETS)
    return events_of(make_request(ScriptedProvider(list(steps)), query=query, spec=SPEC))


def exchanges_in(event: Output) -> tuple[ToolExchange, ...]:
    assert isinstance(event, FunctionCall)
    request = make_request(ScriptedProvider([]), query=make_query(HumanMessage("q")))
    memory = read_memory(event.extra_state, request=request)
    assert memory is not None
    return memory.exchanges


def wanted(id: str = "call-2") -> Step:
    return call("get_widget_data", call_id=id, widgets=[{"id": WIDGET.ref}])


def test_what_is_too_long_to_be_carried_is_named_and_can_be_called_again():
    long = "x" * (MAX_CARRIED - 100)
    script = (
        call("echo", query="first"),
        call("echo", query=long, call_id="call-2"),
        wanted("call-3"),
    )
    *_, event = answered_once(*script)
    assert [one.result for one in exchanges_in(event)] == [NOT_CARRIED, NOT_CARRIED]
    *_, event = answered_once(call("echo", query=long[: len(long) // 2]), wanted())
    assert [one.result for one in exchanges_in(event)] == [long[: len(long) // 2]]
