"""Fills in what a client does not repeat in the second leg of a turn."""

from collections.abc import Sequence
from dataclasses import replace

from copilot_admin.engine.ask import Ask, Memory, Recollection
from copilot_admin.engine.extra_state import unseal
from copilot_admin.engine.model_call import ToolCall
from copilot_admin.engine.turn import messages_of_turn
from protocol.messages import ResultMessage
from protocol.query import Query

MOST_WAITING = 64 * 1024  # characters; the client sends them back with every later request


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


def memory_of(query: Query, *, waiting: Sequence[ToolCall] = ()) -> Memory:
    """What the next leg of the turn will need of this one.

    Args:
        query: With what is known from earlier legs filled in.
        waiting: Calls that this leg does not come to; too much of them is left to the model, which
            can ask again.
    """
    fits = sum(len(call.name) + len(call.arguments) for call in waiting) <= MOST_WAITING
    return Memory(
        timezone=query.timezone,
        urls=query.urls,
        selected_skills=query.selected_skills,
        waiting=tuple(waiting) if fits else (),
    )


def waiting_calls(ask: Ask) -> tuple[ToolCall, ...]:
    """What the model wanted besides the call whose result has just come; none in a new turn."""
    last = ask.query.messages[-1]
    memory = _memory_in(last, ask=ask) if isinstance(last, ResultMessage) else None
    return memory.waiting if memory else ()


def _carried(ask: Ask) -> Memory | None:
    for message in reversed(messages_of_turn(ask.query)):
        if isinstance(message, ResultMessage):
            memory = _memory_in(message, ask=ask)
            if memory is not None:
                return memory
    return None


def _memory_in(message: ResultMessage, *, ask: Ask) -> Memory | None:
    return unseal(message.extra_state, signing_key=ask.signing_key, slug=ask.spec.slug, now=ask.now)
