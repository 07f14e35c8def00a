"""Signed client state and who may hold it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
import json

from copilot_admin.agent.client.extra_state import Holder, unseal
from copilot_admin.agent.toolkits.texts import cut
from copilot_admin.agent.values.engine_input import EngineInput, Exchange, Memory, Recollection
from copilot_admin.agent.values.model_call import CallExtras, ToolCall
from copilot_admin.agent.values.turn import messages_of_turn
from protocol.canonical import canonical
from protocol.json import Json, JsonObject
from protocol.models import MAX_ZONE_CHARACTERS, Query, ResultMessage


def holders(engine_input: EngineInput) -> tuple[Holder, ...]:
    """Whose tokens a request may bring back; what it is given is sealed for the first.

    The chat is the trace id that the client gave. One that gave none has another with every request,
    so there it is the question, which stays the same until the turn is answered. A client that
    takes over the trace id of the first answer brings back a token that was sealed for the question.
    """
    question = engine_input.query.question
    words = canonical(question) if question is not None else b""
    chats = [f"question {blake2b(words, digest_size=16).hexdigest()}"]
    if engine_input.chat_id is not None:
        chats.insert(0, f"trace {engine_input.chat_id}")
    slug, principal = engine_input.spec.slug, engine_input.principal
    if engine_input.user_id:
        principal += f"\n{engine_input.user_id}"  # one key may have many users
    return tuple(Holder(slug=slug, principal=principal, chat=chat) for chat in chats)


# Characters; the client sends them back with every later request of the turn.
MOST_WAITING = 64 * 1024
MOST_CARRIED = 48 * 1024
MOST_STATE = 32 * 1024  # of JSON; a dashboard with 300 widgets has as much
MOST_SKILLS = 64 * 1024  # of JSON; instructions of 10,000 words fit
MAX_EXTRAS = 96 * 1024  # of JSON: what a provider attached to its calls
MOST_ADDRESSES = 16 * 1024  # of the four that there are; a signed one has 2,000
_DASHBOARD = "current_dashboard_info"
NOT_CARRIED = "(done, but the result was too long to be kept; call it again if you need it)"
SKILL_NOT_CARRIED = (
    "(too long to be kept beyond the first part of this answer; say so if you need it)"
)
NOT_WAITING = "(not done: what was called at the same time was too long to be kept; call it again)"


def with_what_it_carries(engine_input: EngineInput, recollection: Recollection) -> EngineInput:
    """The input as of a client that brings back what it was given to carry."""
    query = engine_input.query
    last = query.messages[-1]
    if not recollection.carried or not isinstance(last, ResultMessage):
        return engine_input
    message = replace(last, extra_state=recollection.carried)
    return replace(engine_input, query=replace(query, messages=(*query.messages[:-1], message)))


def completed(engine_input: EngineInput, recollection: Recollection) -> Query:
    """The query with what only the turn's first request says: see `Memory`.

    What the client says now wins, then what the journal knows, then what the client was given to
    carry; a first request has nothing to fill in.
    """
    query = engine_input.query
    if not isinstance(query.messages[-1], ResultMessage):
        return query
    known = recollection.memory or Memory()
    carried = _carried(engine_input) or Memory()
    return replace(
        query,
        timezone=query.timezone or known.timezone or carried.timezone,
        urls=query.urls or carried.urls or known.urls,  # the journal keeps no signatures
        selected_skills=query.selected_skills or known.selected_skills or carried.selected_skills,
        workspace_state=query.workspace_state or known.workspace_state or carried.workspace_state,
    )


def memory_of(
    query: Query,
    *,
    exchanges: Sequence[Exchange] = (),
    waiting: Sequence[ToolCall] = (),
    extras: CallExtras | None = None,
) -> Memory:
    """What the next leg of the turn will need of this one.

    Args:
        query: With what is known from earlier legs filled in.
        exchanges: What server tools gave in this leg; where it is too much, the oldest are only
            named, and the model is told so.
        waiting: Calls that this leg does not come to; where they are too much, the model is told
            that it has to ask again.
        extras: Of the call that the client carries out.
    """
    fits = sum(len(call.name) + len(call.arguments) for call in waiting) <= MOST_WAITING
    forgotten = () if fits else waiting
    exchanges = (*exchanges, *(Exchange(call.name, "{}", NOT_WAITING) for call in forgotten))
    zone = query.timezone or ""
    addresses_fit = sum(map(len, query.urls)) <= MOST_ADDRESSES
    memory = Memory(
        timezone=query.timezone if len(zone) <= MAX_ZONE_CHARACTERS else None,
        urls=query.urls if addresses_fit else (),
        selected_skills=tuple(_fitting_skills(query.selected_skills)),
        workspace_state=_fitting_state(query.workspace_state),
        exchanges=tuple(_fitting(exchanges)),
        waiting=tuple(waiting) if fits else (),
        extras=extras,
    )
    return _without_large_extras(memory)


def _without_large_extras(memory: Memory) -> Memory:
    """Leave out the extras of earlier calls where they are too large, else all of them."""
    if _extras_size(memory) > MAX_EXTRAS:
        plain = tuple(replace(one, extras=None) for one in memory.exchanges)
        memory = replace(memory, exchanges=plain)
    if _extras_size(memory) > MAX_EXTRAS:
        waiting = tuple(replace(one, extras=None) for one in memory.waiting)
        memory = replace(memory, waiting=waiting, extras=None)
    return memory


def _extras_size(memory: Memory) -> int:
    carriers: tuple[Memory | ToolCall | Exchange, ...]
    carriers = (memory, *memory.waiting, *memory.exchanges)
    found = [one.extras for one in carriers if one.extras is not None]
    messages = {
        id(extras.message): extras.message for extras in found
    }  # shared by a message's calls
    return sum(len(json.dumps(one)) for one in (*messages.values(), *(one.call for one in found)))


def waiting_calls(engine_input: EngineInput) -> tuple[ToolCall, ...]:
    """What the model wanted besides the call whose result has just come; none in a new turn."""
    last = engine_input.query.messages[-1]
    memory = memory_in(last, engine_input=engine_input) if isinstance(last, ResultMessage) else None
    return memory.waiting if memory else ()


def _fitting_skills(skills: Sequence[JsonObject]) -> Iterator[JsonObject]:
    left = MOST_SKILLS
    for skill in skills:
        left -= len(json.dumps(skill, ensure_ascii=False))
        if left < 0:
            yield {"slug": cut(str(skill["slug"])), "contentMarkdown": SKILL_NOT_CARRIED}
            return
        yield skill


def _fitting_state(state: JsonObject) -> JsonObject:
    left = MOST_STATE
    kept: dict[str, Json] = {}
    for name in sorted(state, key=lambda name: name != _DASHBOARD):
        size = len(json.dumps(state[name], ensure_ascii=False))
        if size <= left:
            left -= size
            kept[name] = state[name]
    return kept


def _fitting(exchanges: Sequence[Exchange]) -> list[Exchange]:
    left = MOST_CARRIED
    kept: list[Exchange] = []
    for exchange in reversed(exchanges):
        left -= len(exchange.arguments) + len(exchange.result)
        kept.append(exchange if left >= 0 else Exchange(exchange.name, "{}", NOT_CARRIED))
    return kept[::-1]


def _carried(engine_input: EngineInput) -> Memory | None:
    for message in reversed(messages_of_turn(engine_input.query)):
        if isinstance(message, ResultMessage):
            memory = memory_in(message, engine_input=engine_input)
            if memory is not None:
                return memory
    return None


def memory_in(message: ResultMessage, *, engine_input: EngineInput) -> Memory | None:
    """What a client was given to carry and brings back; None when it is not ours."""
    found = (
        unseal(
            message.extra_state,
            signing_key=engine_input.signing_key,
            older_keys=engine_input.older_keys,
            holder=holder,
            now=engine_input.now,
        )
        for holder in holders(engine_input)
    )
    return next((memory for memory in found if memory is not None), None)
