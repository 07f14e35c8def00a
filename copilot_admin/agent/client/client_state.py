"""State of a turn that travels through the client, signed, from one step to the next.

The client returns the `extra_state` of a function call with its result. It drops call and result
from its history if `extra_state` is empty, and would then send the same question again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from datetime import datetime, timedelta
import hashlib
import json
from typing import Any

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
from protocol.json import JsonObject
from protocol.models import Query, ResultMessage

SIGNED_MEMORY = "copilot_memory"
LIFETIME = timedelta(hours=24)
# Characters; the client sends them back with every later request of the turn.
MAX_TOKEN = 4 * 1024 * 1024
MAX_WAITING = 64 * 1024
MAX_CARRIED = 48 * 1024
MAX_STATE = 32 * 1024  # of JSON; enough for a dashboard with 300 widgets
MAX_SKILL = 64 * 1024  # of JSON; fits instructions with 10,000 English terms
MAX_EXTRAS = 96 * 1024  # of JSON: what a provider attached to its calls
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
    """Return the audiences whose tokens a request may return. Tokens are signed for the first.

    The conversation is identified by the client's trace id. For a client without one, the question
    identifies it until the turn is answered. A client that adopts the trace id of the first answer
    still returns a token for the question.
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
        request: Contains the signing key.
        query: Of this step.
        remembered: The arguments as stored for readers of the call, if they differ.
        exchanges: Results of server tools in this step.
        waiting: Other calls of the same answer; the next step begins with them.
        extras: Of the model's call.
        state: Other members that the client reads in `extra_state`.
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
    """Return the state of this step for the next one, within the limits of size.

    Texts for the model mention results and calls that are left out.
    """
    if sum(len(call.name) + len(call.arguments) for call in waiting) > MAX_WAITING:
        forgotten = [ToolExchange(call.name, "{}", NOT_WAITING) for call in waiting]
        exchanges, waiting = (*exchanges, *forgotten), ()
    memory = Memory(
        timezone=query.timezone,
        urls=query.urls,
        selected_skills=tuple(map(_fit_skill, query.selected_skills)),
        workspace_state=_fit_state(query.workspace_state),
        exchanges=tuple(_fit_exchanges(exchanges)),
        waiting=tuple(waiting),
        extras=extras,
    )
    calls: tuple[ToolCall | ToolExchange, ...] = (*memory.waiting, *memory.exchanges)
    found = [extras, *(one.extras for one in calls)]
    if sum(_size_of(asdict(one)) for one in found if one is not None) <= MAX_EXTRAS:
        return memory
    return replace(
        memory,
        exchanges=tuple(replace(one, extras=None) for one in memory.exchanges),
        waiting=tuple(replace(one, extras=None) for one in memory.waiting),
        extras=None,
    )


def _size_of(value: JsonObject) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def _fit_skill(skill: JsonObject) -> JsonObject:
    if _size_of(skill) <= MAX_SKILL:
        return skill
    return {"slug": truncate(str(skill["slug"])), "contentMarkdown": SKILL_NOT_CARRIED}


def _fit_state(state: JsonObject) -> JsonObject:
    """Return the state, or the dashboard alone, or nothing."""
    for kept in (state, {key: value for key, value in state.items() if key == _DASHBOARD}):
        if _size_of(kept) <= MAX_STATE:
            return kept
    return {}


def _fit_exchanges(exchanges: Sequence[ToolExchange]) -> list[ToolExchange]:
    """Return the latest exchanges unchanged, earlier ones without their results."""
    left = MAX_CARRIED
    kept: list[ToolExchange] = []
    for exchange in reversed(exchanges):
        left -= len(exchange.arguments) + len(exchange.result)
        kept.append(exchange if left >= 0 else ToolExchange(exchange.name, "{}", NOT_CARRIED))
    return kept[::-1]


def restore_client_state(request: AnswerRequest, stored_turn: StoredTurn) -> AnswerRequest:
    """Return the input as if the client had returned the state that it lost."""
    query = request.query
    last = query.messages[-1]
    if not stored_turn.carried or not isinstance(last, ResultMessage):
        return request
    message = replace(last, extra_state=stored_turn.carried)
    return replace(request, query=replace(query, messages=(*query.messages[:-1], message)))


def merge_carried_state(request: AnswerRequest, stored_turn: StoredTurn) -> Query:
    """Return the query with the fields that only the first request of a turn contains.

    Values of this request win, then values that the server stored, then values that the client
    carried.
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
    """Return the other calls of the answer whose client call was returned with this request."""
    last = request.query.messages[-1]
    memory = read_memory(last, request=request) if isinstance(last, ResultMessage) else None
    return memory.waiting if memory else ()


def read_memory(message: ResultMessage, *, request: AnswerRequest) -> Memory | None:
    """Return the memory that a client returns, if it is valid for the request."""
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
    claims = {"expires": int((now + LIFETIME).timestamp()), "memory": asdict(memory)}
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
        memory = _memory_of(claims["memory"])
    except (BadData, KeyError, TypeError):  # a token of another release has other claims
        return None
    return memory if claims["expires"] >= now.timestamp() else None


def _serializer(
    signing_key: bytes, audience: Audience, older_keys: Sequence[bytes] = ()
) -> Serializer[str]:
    """Serialize to JSON with an HMAC that is salted with the audience.

    The timed serializer of itsdangerous rejects tokens of a machine whose clock is a second ahead,
    and the URL-safe one compresses, which is ten times slower.
    """
    return Serializer(
        [*older_keys, signing_key],  # the last key signs
        salt=f"extra_state:{json.dumps(astuple(audience))}",
        signer_kwargs={"digest_method": hashlib.sha256, "key_derivation": "hmac"},
    )


def _memory_of(values: Mapping[str, Any]) -> Memory:
    def read_extras(row: Mapping[str, Any]) -> dict[str, Any]:
        return {**row, "extras": CallExtras(**row["extras"]) if row["extras"] else None}

    return Memory(
        **{
            **read_extras(values),
            "urls": tuple(values["urls"]),
            "selected_skills": tuple(values["selected_skills"]),
            "exchanges": tuple(ToolExchange(**read_extras(one)) for one in values["exchanges"]),
            "waiting": tuple(ToolCall(**read_extras(one)) for one in values["waiting"]),
        }
    )
