"""Fills in what a client does not repeat in the second leg of a turn."""

from dataclasses import replace

from copilot_admin.engine.ask import Ask, Memory, Recollection
from copilot_admin.engine.extra_state import unseal
from copilot_admin.engine.turn import messages_of_turn
from protocol.messages import ResultMessage
from protocol.query import Query


def completed(ask: Ask, recollection: Recollection) -> Query:
    """The query with timezone, urls and selected skills of the turn's first request.

    What the client says now wins, then what the journal knows, then what the client was given to
    carry; a first request has nothing to fill in.
    """
    query = ask.query
    if not isinstance(query.messages[-1], ResultMessage):
        return query
    known = recollection.memory or Memory()
    carried = _carried(ask) or Memory()
    return replace(
        query,
        timezone=query.timezone or known.timezone or carried.timezone,
        urls=query.urls or known.urls or carried.urls,
        selected_skills=query.selected_skills or known.selected_skills or carried.selected_skills,
    )


def memory_of(query: Query) -> Memory:
    """What the next leg of the turn will need of this one."""
    return Memory(timezone=query.timezone, urls=query.urls, selected_skills=query.selected_skills)


def _carried(ask: Ask) -> Memory | None:
    for message in reversed(messages_of_turn(ask.query)):
        if isinstance(message, ResultMessage):
            memory = unseal(
                message.extra_state,
                signing_key=ask.signing_key,
                slug=ask.spec.slug,
                now=ask.now,
            )
            if memory is not None:
                return memory
    return None
