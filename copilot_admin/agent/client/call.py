"""Says what the client shall do as the event that ends a leg."""

from collections.abc import Sequence

from copilot_admin.agent.client.extra_state import SIGNED_MEMORY, seal
from copilot_admin.agent.client.memory import holders, memory_of
from copilot_admin.agent.client.widget_data import DataCall
from copilot_admin.agent.values.engine_input import EngineInput, Exchange
from copilot_admin.agent.values.model_call import CallExtras, ToolCall
from protocol.events import FunctionCall
from protocol.functions import get_widget_data_call
from protocol.json import Json, JsonObject
from protocol.models import Query

NO_STATE: JsonObject = {}


def data_call_event(
    call: DataCall,
    *,
    engine_input: EngineInput,
    query: Query,
    exchanges: Sequence[Exchange] = (),
    waiting: Sequence[ToolCall] = (),
    extras: CallExtras | None = None,
) -> FunctionCall:
    """The call that asks for the data of widgets; the rest as for `client_call_event`."""
    named: list[Json] = [{"origin": one.origin, "widget_id": one.id} for one in call.sources]
    arguments = get_widget_data_call(call.sources)
    return client_call_event(
        call.function,
        arguments,
        remembered={"data_sources": named},
        engine_input=engine_input,
        query=query,
        exchanges=exchanges,
        waiting=waiting,
        extras=extras,
    )


def client_call_event(
    function: str,
    arguments: JsonObject,
    *,
    remembered: JsonObject,
    engine_input: EngineInput,
    query: Query,
    exchanges: Sequence[Exchange] = (),
    waiting: Sequence[ToolCall] = (),
    extras: CallExtras | None = None,
    state: JsonObject = NO_STATE,
) -> FunctionCall:
    """A client function call; its `extra_state` is never empty, or the client would loop.

    Source: a client drops the pair of call and result from its history when the result has an
    empty `extra_state`, and then sends the same question again.

    Args:
        function: Its name on the wire.
        arguments: Its `input_arguments`.
        remembered: What the model meant by it, for those who read along.
        engine_input: Whose signing key seals what the next leg needs.
        query: Of this leg.
        exchanges: What server tools gave in this leg, which the model of the next is told.
        waiting: What the model called in the same answer; the next leg begins with it.
        extras: Of the model's call.
        state: What else of `extra_state` the client reads.
    """
    memory = seal(
        memory_of(query, exchanges=exchanges, waiting=waiting, extras=extras),
        signing_key=engine_input.signing_key,
        holder=holders(engine_input)[0],
        now=engine_input.now,
    )
    return FunctionCall(
        function=function,
        input_arguments=arguments,
        extra_state={
            **state,
            "copilot_function_call_arguments": remembered,
            SIGNED_MEMORY: memory,
        },
    )
