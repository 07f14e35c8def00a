"""State of a turn that travels through the client, signed, from one step to the next.

The client returns the `extra_state` of a function call with its result. It drops call and result
from its history if `extra_state` is empty, and would then send the same question again.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import timedelta
import hashlib
import json
from typing import Any

from itsdangerous import BadData, Serializer

from copilot_admin.agent.client.limits import json_size
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
NO_MEMORY = Memory()
_DASHBOARD = "current_dashboard_info"


def client_call_event(
    function: str,
    arguments: JsonObject,
    *,
    request: AnswerRequest,
    memory: Memory = NO_MEMORY,
    remembered: JsonObject | None = None,
    state: JsonObject | None = None,
) -> FunctionCall:
    """Return a client function call with the signed state of the turn.

    The `memory` has the calls of this step. `remembered` are the arguments for readers of the call,
    if they differ. The client reads the `state` in `extra_state`.
    """
    return FunctionCall(
        function=function,
        input_arguments=arguments,
        extra_state={
            **(state or {}),
            "copilot_function_call_arguments": arguments if remembered is None else remembered,
            SIGNED_MEMORY: sign_memory(build_memory(request.query, memory), request),
        },
    )


def build_memory(query: Query, memory: Memory = NO_MEMORY) -> Memory:
    """Return the state of this step and its calls for the next one, within the limits of size.

    Texts for the model mention results and calls that are left out.
    """
    exchanges, waiting, extras = memory.exchanges, memory.waiting, memory.extras
    if sum(len(call.name) + len(call.arguments) for call in waiting) > MAX_WAITING:
        forgotten = [ToolExchange(call.name, "{}", NOT_WAITING) for call in waiting]
        exchanges, waiting = (*exchanges, *forgotten), ()
    exchanges = _fit_exchanges(exchanges)
    attached = [extras, *(one.extras for one in waiting), *(one.extras for one in exchanges)]
    if sum(json_size(asdict(one)) for one in attached if one) > MAX_EXTRAS:
        extras = None
        exchanges = tuple(replace(one, extras=None) for one in exchanges)
        waiting = tuple(replace(one, extras=None) for one in waiting)
    skills = (
        one
        if json_size(one) <= MAX_SKILL
        else {"slug": truncate(str(one["slug"])), "contentMarkdown": SKILL_NOT_CARRIED}
        for one in query.selected_skills
    )
    state = query.workspace_state
    dashboard = {key: value for key, value in state.items() if key == _DASHBOARD}
    return Memory(
        timezone=query.timezone,
        urls=query.urls,
        selected_skills=tuple(skills),
        workspace_state=next(
            (one for one in (state, dashboard) if json_size(one) <= MAX_STATE), {}
        ),
        exchanges=exchanges,
        waiting=waiting,
        extras=extras,
    )


def _fit_exchanges(exchanges: Sequence[ToolExchange]) -> tuple[ToolExchange, ...]:
    """Return the latest exchanges unchanged, earlier ones without their results."""
    left = MAX_CARRIED
    fitted: list[ToolExchange] = []
    for exchange in reversed(exchanges):
        left -= len(exchange.arguments) + len(exchange.result)
        fitted.append(exchange if left >= 0 else ToolExchange(exchange.name, "{}", NOT_CARRIED))
    return tuple(reversed(fitted))


def restore_state(request: AnswerRequest, stored_turn: StoredTurn) -> AnswerRequest:
    """Return the request with the fields that only the first request of a turn contains.

    Values of this request win, then values that the server stored, then values that the client
    carried. The state of the latest call is restored for clients that don't return it.
    """
    query = request.query
    last = query.messages[-1]
    if not isinstance(last, ResultMessage):
        return request
    if stored_turn.carried:
        last = replace(last, extra_state=stored_turn.carried)
        query = replace(query, messages=(*query.messages[:-1], last))
    known = stored_turn.memory or Memory()
    results = (one for one in messages_of_turn(query)[::-1] if isinstance(one, ResultMessage))
    memories = (read_memory(one.extra_state, request=request) for one in results)
    carried = next(filter(None, memories), Memory())
    query = replace(
        query,
        timezone=query.timezone or known.timezone or carried.timezone,
        urls=query.urls or carried.urls or known.urls,  # stored ones have no signatures
        selected_skills=query.selected_skills or known.selected_skills or carried.selected_skills,
        workspace_state=query.workspace_state or known.workspace_state or carried.workspace_state,
    )
    return replace(request, query=query)


def waiting_calls(request: AnswerRequest) -> tuple[ToolCall, ...]:
    """Return the other calls of the answer whose client call was returned with this request."""
    last = request.query.messages[-1]
    state = last.extra_state if isinstance(last, ResultMessage) else {}
    memory = read_memory(state, request=request)
    return memory.waiting if memory else ()


def read_memory(extra_state: JsonObject, *, request: AnswerRequest) -> Memory | None:
    """Return the memory that a client returns; None if it is missing, foreign or expired."""
    token = extra_state.get(SIGNED_MEMORY)
    if not isinstance(token, str) or len(token) > MAX_TOKEN or not token.isascii():
        return None
    for audience in _audiences(request):
        with suppress(BadData, KeyError, TypeError):  # a token of another release has other claims
            claims = _serializer(request, audience).loads(token)
            if claims["expires"] >= request.now.timestamp():
                return _memory_of(claims["memory"])
    return None


def sign_memory(memory: Memory, request: AnswerRequest) -> str:
    """Return the memory as a token that is valid for a day: for a copilot, a caller and a chat."""
    claims = {"expires": int((request.now + LIFETIME).timestamp()), "memory": asdict(memory)}
    return _serializer(request, _audiences(request)[0]).dumps(claims)


def _audiences(request: AnswerRequest) -> list[tuple[str, str, str]]:
    """Return copilot, caller and chat of the tokens of a request. Tokens are signed for the first.

    The chat is identified by the client's trace id. For a client without one, the question
    identifies it until the turn is answered. A client that adopts the trace id of the first answer
    still returns a token for the question.
    """
    question = request.query.question
    words = canonical(question) if question is not None else b""
    chats = [f"question {hashlib.blake2b(words, digest_size=16).hexdigest()}"]
    if request.chat_id is not None:
        chats.insert(0, f"trace {request.chat_id}")
    principal = request.principal
    if request.user_id:
        principal += f"\n{request.user_id}"  # one key may have many users
    return [(request.spec.slug, principal, chat) for chat in chats]


def _serializer(request: AnswerRequest, audience: tuple[str, str, str]) -> Serializer[str]:
    """Serialize to JSON with an HMAC that is salted with the audience.

    The timed serializer of itsdangerous rejects tokens of a machine whose clock is a second ahead,
    and the URL-safe one compresses, which is ten times slower.
    """
    return Serializer(
        [*request.older_keys, request.signing_key],  # the last key signs
        salt=f"extra_state:{json.dumps(audience)}",
        signer_kwargs={"digest_method": hashlib.sha256, "key_derivation": "hmac"},
    )


def _memory_of(values: Mapping[str, Any]) -> Memory:
    def read_extras(row: Mapping[str, Any]) -> dict[str, Any]:
        return {**row, "extras": CallExtras(**row["extras"]) if row["extras"] else None}

    lists = {name: tuple(values[name]) for name in ("urls", "selected_skills")}
    exchanges = tuple(ToolExchange(**read_extras(one)) for one in values["exchanges"])
    waiting = tuple(ToolCall(**read_extras(one)) for one in values["waiting"])
    return Memory(**{**read_extras(values), **lists, "exchanges": exchanges, "waiting": waiting})
