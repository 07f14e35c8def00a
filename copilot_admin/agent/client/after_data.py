"""Tells whether a model had read data before it called something of the client."""

from collections.abc import Collection, Iterable

from copilot_admin.agent.client.memory import memory_in
from copilot_admin.agent.values.engine_input import EngineInput, Exchange
from copilot_admin.agent.values.turn import data_results, messages_of_turn
from protocol.messages import AiMessage, ResultMessage
from protocol.query import Query


def data_was_read(
    engine_input: EngineInput,
    query: Query,
    *,
    exchanges: Iterable[Exchange],
    components: Collection[str],
    taken_up: bool,
) -> bool:
    """Whether data came in this turn before the model wrote its call.

    Data is what the client returned of widgets and of tools that it ran, what components gave, what
    other agents answered, and what came with the question: files and the data of widgets.

    Args:
        engine_input: As the request came.
        query: With its files read.
        exchanges: What server tools gave in this leg.
        components: Names of those that give data.
        taken_up: The call was written in the leg before, with the one whose result has just come.
    """
    if query.context or (not taken_up and _others_answered(query, slug=engine_input.spec.slug)):
        return True
    last = query.messages[-1]
    if taken_up and isinstance(last, ResultMessage):
        memory = memory_in(last, engine_input=engine_input)
        exchanges = memory.exchanges if memory else ()
    earlier = data_results(query, before_last=taken_up)
    return earlier > 0 or any(one.name in components for one in exchanges)


def _others_answered(query: Query, *, slug: str) -> bool:
    said = (one for one in messages_of_turn(query) if isinstance(one, AiMessage))
    return any(one.agent_id not in (None, slug) for one in said)
