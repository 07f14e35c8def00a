"""What travels through the client from one leg of a turn to the next, signed.

The client echoes `extra_state` of a function call on the tool message, and deletes call and result
from its history when it is empty.
Source: the front end's handling of `get_widget_data`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
import hashlib
import json

from itsdangerous import BadData, Serializer

from copilot_admin.agent.values.engine_input import Exchange, Memory
from copilot_admin.agent.values.model_call import CallExtras, ToolCall
from protocol.json import Json, JsonObject, object_of

SIGNED_MEMORY = "copilot_memory"
# A day: longer than anybody leaves a dashboard waiting for data, short enough for a lost token.
LIFETIME = timedelta(hours=24)
# Characters; what is given to carry takes 3 million where each of its signs is escaped. To check 20 MB
# takes 180 ms, and 68 of them keep everybody waiting.
LONGEST = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """For whom a token is made: nobody else's is accepted.

    Attributes:
        slug: Of the copilot.
        principal: Who asks, by the name that transcripts have for the key.
        chat: Names the conversation.
    """

    slug: str
    principal: str
    chat: str


def seal(memory: Memory, *, signing_key: bytes, holder: Holder, now: datetime) -> str:
    """Returns the memory as a token that this server accepts from its holder alone, for a day."""
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
    return _serializer(signing_key, holder).dumps(claims)


def unseal(
    extra_state: JsonObject,
    *,
    signing_key: bytes,
    holder: Holder,
    now: datetime,
    older_keys: Sequence[bytes] = (),
) -> Memory | None:
    """Returns the memory of a client's `extra_state`; None when it is not ours or too old.

    A client may send anything here, so whatever is missing, foreign, expired or altered is
    ignored without a word, and what is longer than any of ours without a look. What an older key
    signed is ours too.
    """
    token = extra_state.get(SIGNED_MEMORY)
    if not isinstance(token, str) or len(token) > LONGEST or not token.isascii():
        return None
    try:
        claims = _serializer(signing_key, holder, older_keys).loads(token)
    except BadData:
        return None
    return _memory(claims) if claims["expires"] >= now.timestamp() else None


def _serializer(
    signing_key: bytes, holder: Holder, older_keys: Sequence[bytes] = ()
) -> Serializer[str]:
    """JSON with an HMAC; the salt makes a token of another copilot, caller or chat a foreign one.

    Not itsdangerous' timed serializer: it reads the clock itself and refuses a token from a machine
    whose clock runs a second ahead. Not its URL-safe one: it compresses, which takes ten times as
    long as all the rest.
    """
    return Serializer(
        [*older_keys, signing_key],  # the last one signs
        salt=f"extra_state:{json.dumps(astuple(holder))}",
        signer_kwargs={"digest_method": hashlib.sha256, "key_derivation": "hmac"},
    )


def _memory(claims: Mapping[str, Json]) -> Memory:
    timezone, urls, skills = (claims[key] for key in ("timezone", "urls", "selected_skills"))
    state = claims.get("workspace_state")
    messages = _rows(claims.get("messages"))
    return Memory(
        timezone=timezone if isinstance(timezone, str) else None,
        urls=tuple(url for url in _rows(urls) if isinstance(url, str)),
        selected_skills=tuple(skill for skill in _rows(skills) if isinstance(skill, Mapping)),
        workspace_state=state if isinstance(state, Mapping) else {},
        exchanges=tuple(_exchange(row, messages) for row in _rows(claims.get("exchanges"))),
        waiting=tuple(_call(row, messages) for row in _rows(claims.get("waiting"))),
        extras=_extras(claims.get("extras"), messages),
    )


def _exchange(row: Json, messages: Sequence[Json]) -> Exchange:
    name, arguments, result, *extras = _rows(row)
    return Exchange(
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
