"""State of a turn that travels through the client, signed, from one step to the next.

The client returns the `extra_state` of a function call with its result. It drops call and result
from its history if `extra_state` is empty, and would then send the same question again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import datetime, timedelta
import hashlib
import json

from itsdangerous import BadData, Serializer

from copilot_admin.agent.text import truncate
from copilot_admin.agent.values.answer_request import (
    AnswerRequest,
    Memory,
    StoredTurn,
    ToolExchange,
)
from copilot_admin.agent.values.model_call import CallExtras, ToolCall
from copilot_admin.agent.values.turn import messages_of_turn
from protocol.canonical import canonical
from protocol.events import FunctionCall
from protocol.json import Json, JsonObject, object_of
from protocol.models import MAX_ZONE_CHARACTERS, Query, ResultMessage

SIGNED_MEMORY = "copilot_memory"
LIFETIME = timedelta(hours=24)
# Characters; the client sends them back with every later request of the turn.
MAX_TOKEN = 4 * 1024 * 1024
MAX_WAITING = 64 * 1024
MAX_CARRIED = 48 * 1024
MAX_STATE = 32 * 1024  # of JSON; a dashboard with 300 widgets has as much
MAX_SKILLS = 64 * 1024  # of JSON; instructions of 10,000 words fit
MAX_EXTRAS = 96 * 1024  # of JSON: what a provider attached to its calls
MAX_URLS = 16 * 1024  # of the four that there are; a signed one has 2,000
NOT_CARRIED = "(done, but the result was too long to be kept; call it again if you need it)"
SKILL_NOT_CARRIED = (
    "(too long to be kept beyond the first part of this answer; say so if you need it)"
)
NOT_WAITING = "(not done: what was called at the same time was too long to be kept; call it again)"
_DASHBOARD = "current_dashboard_info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """The copilot, the caller and the conversation for which a token is valid."""

    slug: str
    principal: str
    chat: str


def audiences(request: AnswerRequest) -> tuple[Audience, ...]:
    """Return the audiences whose tokens a request may bring back. Tokens are signed for the first.

    The conversation is the client's trace id. A client without one has the question instead, which
    stays the same until the turn is answered; if it takes over the trace id of the first answer, it
    brings back a token for the question.
    """
    question = request.query.question
    words = canonical(question) if question is not None else b""
    chats = [f"question {hashlib.blake2b(words, digest_size=16).hexdigest()}"]
    if request.chat_id is not None:
        chats.insert(0, f"trace {request.chat_id}")
    slug, principal = request.spec.slug, request.principal
    if request.user_id:
        principal += f"\n{request.user_id}"  # one key may have many users
    return tuple(Audience(slug=slug, principal=principal, chat=chat) for chat in chats)


def client_call_event(
    function: str,
    arguments: JsonObject,
    *,
    request: AnswerRequest,
    query: Query,
    remembered: JsonObject | None = None,
    exchanges: Sequence[ToolExchange] = (),
    waiting: Sequence[ToolCall] = (),
    extras: CallExtras | None = None,
    state: JsonObject | None = None,
) -> FunctionCall:
    """Return a client function call with the signed state of the turn.

    Args:
        function: Name on the wire.
        arguments: Its `input_arguments`.
        request: Has the signing key.
        query: Of this step.
        remembered: The arguments as readers of the call see them, if they differ.
        exchanges: Results of server tools in this step.
        waiting: Other calls of the same answer; the next step begins with them.
        extras: Of the model's call.
        state: What else the client reads in `extra_state`.
    """
    memory = sign_memory(
        build_memory(query, exchanges=exchanges, waiting=waiting, extras=extras),
        signing_key=request.signing_key,
        audience=audiences(request)[0],
        now=request.now,
    )
    return FunctionCall(
        function=function,
        input_arguments=arguments,
        extra_state={
            **(state or {}),
            "copilot_function_call_arguments": arguments if remembered is None else remembered,
            SIGNED_MEMORY: memory,
        },
    )


def build_memory(
    query: Query,
    *,
    exchanges: Sequence[ToolExchange] = (),
    waiting: Sequence[ToolCall] = (),
    extras: CallExtras | None = None,
) -> Memory:
    """Return what the next step needs of this one, within the limits of size.

    The model is told of results and calls that are left out.
    """
    fits = sum(len(call.name) + len(call.arguments) for call in waiting) <= MAX_WAITING
    forgotten = () if fits else waiting
    exchanges = (*exchanges, *(ToolExchange(call.name, "{}", NOT_WAITING) for call in forgotten))
    memory = Memory(
        timezone=query.timezone if len(query.timezone or "") <= MAX_ZONE_CHARACTERS else None,
        urls=query.urls if sum(map(len, query.urls)) <= MAX_URLS else (),
        selected_skills=tuple(_fit_skills(query.selected_skills)),
        workspace_state=_fit_state(query.workspace_state),
        exchanges=tuple(_fit_exchanges(exchanges)),
        waiting=tuple(waiting) if fits else (),
        extras=extras,
    )
    return _drop_large_extras(memory)


def _fit_skills(skills: Sequence[JsonObject]) -> Iterator[JsonObject]:
    left = MAX_SKILLS
    for skill in skills:
        left -= len(json.dumps(skill, ensure_ascii=False))
        if left < 0:
            yield {"slug": truncate(str(skill["slug"])), "contentMarkdown": SKILL_NOT_CARRIED}
            return
        yield skill


def _fit_state(state: JsonObject) -> JsonObject:
    """Return the state, or the dashboard alone, or nothing."""
    for kept in (state, {key: value for key, value in state.items() if key == _DASHBOARD}):
        if len(json.dumps(kept, ensure_ascii=False)) <= MAX_STATE:
            return kept
    return {}


def _fit_exchanges(exchanges: Sequence[ToolExchange]) -> list[ToolExchange]:
    """Return the latest exchanges as they are, earlier ones without their results."""
    left = MAX_CARRIED
    kept: list[ToolExchange] = []
    for exchange in reversed(exchanges):
        left -= len(exchange.arguments) + len(exchange.result)
        kept.append(exchange if left >= 0 else ToolExchange(exchange.name, "{}", NOT_CARRIED))
    return kept[::-1]


def _drop_large_extras(memory: Memory) -> Memory:
    """Leave out the extras of earlier calls if they are too large, else all of them."""
    if _extras_size(memory) > MAX_EXTRAS:
        plain = tuple(replace(one, extras=None) for one in memory.exchanges)
        memory = replace(memory, exchanges=plain)
    if _extras_size(memory) > MAX_EXTRAS:
        waiting = tuple(replace(one, extras=None) for one in memory.waiting)
        memory = replace(memory, waiting=waiting, extras=None)
    return memory


def _extras_size(memory: Memory) -> int:
    carriers: tuple[Memory | ToolCall | ToolExchange, ...]
    carriers = (memory, *memory.waiting, *memory.exchanges)
    found = [one.extras for one in carriers if one.extras is not None]
    messages = {id(one.message): one.message for one in found}  # shared by calls of one answer
    return sum(len(json.dumps(one)) for one in (*messages.values(), *(one.call for one in found)))


def restore_client_state(request: AnswerRequest, stored_turn: StoredTurn) -> AnswerRequest:
    """Return the input as if the client had brought back the state that it lost."""
    query = request.query
    last = query.messages[-1]
    if not stored_turn.carried or not isinstance(last, ResultMessage):
        return request
    message = replace(last, extra_state=stored_turn.carried)
    return replace(request, query=replace(query, messages=(*query.messages[:-1], message)))


def merge_carried_state(request: AnswerRequest, stored_turn: StoredTurn) -> Query:
    """Return the query with what only the first request of a turn says.

    What the client says now wins, then what the server stored, then what the client carried.
    """
    query = request.query
    if not isinstance(query.messages[-1], ResultMessage):
        return query
    known = stored_turn.memory or Memory()
    results = (one for one in messages_of_turn(query)[::-1] if isinstance(one, ResultMessage))
    memories = (read_memory(one, request=request) for one in results)
    carried = next(filter(None, memories), Memory())
    return replace(
        query,
        timezone=query.timezone or known.timezone or carried.timezone,
        urls=query.urls or carried.urls or known.urls,  # stored ones have no signatures
        selected_skills=query.selected_skills or known.selected_skills or carried.selected_skills,
        workspace_state=query.workspace_state or known.workspace_state or carried.workspace_state,
    )


def waiting_calls(request: AnswerRequest) -> tuple[ToolCall, ...]:
    """Return the other calls of the answer whose client call has just come back."""
    last = request.query.messages[-1]
    memory = read_memory(last, request=request) if isinstance(last, ResultMessage) else None
    return memory.waiting if memory else ()


def read_memory(message: ResultMessage, *, request: AnswerRequest) -> Memory | None:
    """Return the memory that a client brings back, if it is valid for the request."""
    found = (
        verify_memory(
            message.extra_state,
            signing_key=request.signing_key,
            older_keys=request.older_keys,
            audience=audience,
            now=request.now,
        )
        for audience in audiences(request)
    )
    return next((memory for memory in found if memory is not None), None)


def sign_memory(memory: Memory, *, signing_key: bytes, audience: Audience, now: datetime) -> str:
    """Return the memory as a token that is valid for its audience, for a day."""
    messages: list[JsonObject] = []  # each once: calls of one answer share it

    def row_of(extras: CallExtras | None) -> Json:
        if extras is None:
            return None
        if extras.message not in messages:
            messages.append(extras.message)
        return [extras.model, extras.call, messages.index(extras.message)]

    claims = {
        "expires": int((now + LIFETIME).timestamp()),
        "timezone": memory.timezone,
        "urls": memory.urls,
        "selected_skills": memory.selected_skills,
        "workspace_state": memory.workspace_state,
        "exchanges": [
            [one.name, one.arguments, one.result, row_of(one.extras)] for one in memory.exchanges
        ],
        "waiting": [
            [one.id, one.name, one.arguments, row_of(one.extras)] for one in memory.waiting
        ],
        "extras": row_of(memory.extras),
        "messages": messages,
    }
    return _serializer(signing_key, audience).dumps(claims)


def verify_memory(
    extra_state: JsonObject,
    *,
    signing_key: bytes,
    audience: Audience,
    now: datetime,
    older_keys: Sequence[bytes] = (),
) -> Memory | None:
    """Return the memory in a client's `extra_state`; None if it is missing, foreign or expired."""
    token = extra_state.get(SIGNED_MEMORY)
    if not isinstance(token, str) or len(token) > MAX_TOKEN or not token.isascii():
        return None
    try:
        claims = _serializer(signing_key, audience, older_keys).loads(token)
    except BadData:
        return None
    return _memory_of(claims) if claims["expires"] >= now.timestamp() else None


def _serializer(
    signing_key: bytes, audience: Audience, older_keys: Sequence[bytes] = ()
) -> Serializer[str]:
    """JSON with an HMAC, salted with the audience.

    The timed serializer of itsdangerous rejects tokens of a machine whose clock is a second ahead,
    the URL-safe one compresses, which takes ten times as long as the rest.
    """
    return Serializer(
        [*older_keys, signing_key],  # the last one signs
        salt=f"extra_state:{json.dumps(astuple(audience))}",
        signer_kwargs={"digest_method": hashlib.sha256, "key_derivation": "hmac"},
    )


def _memory_of(claims: Mapping[str, Json]) -> Memory:
    timezone, state = claims.get("timezone"), claims.get("workspace_state")
    messages = _rows(claims.get("messages"))
    skills = _rows(claims.get("selected_skills"))
    return Memory(
        timezone=timezone if isinstance(timezone, str) else None,
        urls=tuple(url for url in _rows(claims.get("urls")) if isinstance(url, str)),
        selected_skills=tuple(skill for skill in skills if isinstance(skill, Mapping)),
        workspace_state=state if isinstance(state, Mapping) else {},
        exchanges=tuple(_exchange(row, messages) for row in _rows(claims.get("exchanges"))),
        waiting=tuple(_call(row, messages) for row in _rows(claims.get("waiting"))),
        extras=_extras(claims.get("extras"), messages),
    )


def _exchange(row: Json, messages: Sequence[Json]) -> ToolExchange:
    name, arguments, result, *extras = _rows(row)
    return ToolExchange(
        str(name), str(arguments), str(result), _extras(extras[0] if extras else None, messages)
    )


def _call(row: Json, messages: Sequence[Json]) -> ToolCall:
    id, name, arguments, *extras = _rows(row)
    return ToolCall(
        id=str(id),
        name=str(name),
        arguments=str(arguments),
        extras=_extras(extras[0] if extras else None, messages),
    )


def _extras(row: Json, messages: Sequence[Json]) -> CallExtras | None:
    match row:
        case [str(model), call, int(number)]:
            message = object_of(messages[number])
            return CallExtras(model=model, call=object_of(call), message=message)
    return None


def _rows(value: Json) -> tuple[Json, ...]:
    return tuple(value) if isinstance(value, list) else ()
