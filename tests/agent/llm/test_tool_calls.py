"""Tool calls are read within bounds; the forms of servers stand in the table of conformance."""

import pytest

from copilot_admin.agent.llm.tool_calls import MAX_CALLS, CallLimits, ToolCallAccumulator
from copilot_admin.errors import LimitReached
from tests.agent.llm.chunks import fragment


def accumulated(*fragments):
    accumulator = ToolCallAccumulator(CallLimits())
    for one in fragments:
        accumulator.add(one)
    return accumulator


def calls_of(accumulator):
    calls = accumulator.calls(offered=(), model="m", message={})
    return [(call.id, call.name, call.arguments) for call in calls]


@pytest.mark.parametrize("odd", [{}, {"function": 7}, fragment(None, "1", id="c")])
def test_fragments_without_a_name_are_no_call(odd):
    assert calls_of(accumulated(odd)) == []


def test_as_many_calls_as_a_request_may_offer_tools_are_taken_and_no_more():
    accumulator = accumulated(
        *(fragment("table", "{}", index=10**9 - at, id=f"c{at}") for at in range(MAX_CALLS))
    )
    assert len(calls_of(accumulator)) == MAX_CALLS
    with pytest.raises(LimitReached, match="more than 128 tools"):
        accumulator.add(fragment("table", "{}"))


@pytest.mark.parametrize("piece", ["x" * 1024, "é" * 512])
def test_a_megabyte_of_arguments_is_taken_and_no_more(piece):
    accumulator = accumulated(*(fragment("table", piece, index=at % 2) for at in range(1024)))
    assert sum(len(call[2]) for call in calls_of(accumulator)) == 1024 * len(piece)
    with pytest.raises(LimitReached, match="more than 1 MB of arguments"):
        accumulator.add(fragment(None, "x", index=0))
