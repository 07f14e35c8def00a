"""Read a query body of any generation into one `Query`, as leniently as the protocol's history asks.

Source: the request bodies of the three generations of the copilot protocol. A wrong field is left
out with a note; only a body without one usable message is refused.
"""

from collections.abc import Iterable, Mapping, Sequence

from protocol.json import Json, JsonObject
from protocol.models import Generation, Message, Query
from protocol.reading.context import read_context
from protocol.reading.data_messages import (
    SchemaChecks,
    data_among,
    read_data_messages,
)
from protocol.reading.fields import Fields
from protocol.reading.generation import detect
from protocol.reading.messages import check_encoded_calls, read_messages
from protocol.reading.notes import Notes
from protocol.reading.options import read_options
from protocol.reading.pieces import MOST_PIECES, has_more_pieces, names_more_sources
from protocol.reading.widgets import read_widgets
from protocol.redaction import redact
from protocol.storable import storable
from protocol.strict_json import MalformedJson, parse

__all__ = ["MalformedJson", "UnusableQuery", "read"]

MAX_URLS = 4  # the protocol allows as many
MAX_MESSAGES = 2000  # a chat of a day has some dozens; storing 2,000 takes the journal 50 ms


class UnusableQuery(ValueError):
    """A body that asks nothing; `public` says what to send, `code` is for programs."""

    def __init__(self, public: str, *, code: str) -> None:
        super().__init__(public)
        self.public = public
        self.code = code


def read(
    body: bytes | JsonObject,
    *,
    hint: Generation | None = None,
    max_messages: int = MAX_MESSAGES,
) -> Query:
    """Read one request.

    Args:
        body: The bytes of the body, or the object they hold.
        hint: The generation that the address promised; the body's shape wins.
        max_messages: The longest history that is taken.

    Returns:
        What the request means, with notes about what was left out or mended. Texts hold neither
        NUL nor lone surrogates.

    Raises:
        MalformedJson: The bytes, or calls that are encoded in them, are not the JSON we read.
        UnusableQuery: The body is no object, or has no message that can be read, or too many, or
            data in too many pieces.
    """
    notes = Notes()
    request = _request(body, notes)
    raw = _messages(request, max_messages)
    messages = _read_messages(raw, request, notes)
    schemas = SchemaChecks()
    among = data_among(raw)
    data = read_data_messages(among, notes=notes, schemas=schemas)
    if not messages:
        raise _nothing_asked(data)
    fields = Fields(request, path="", notes=notes)
    state = redact(fields.object("workspace_state"))
    return Query(
        messages=messages,
        generation=detect(request, hint=hint),
        widgets=read_widgets(request.get("widgets"), notes=notes),
        context=(*data, *read_context(request.get("context"), notes=notes, schemas=schemas)),
        urls=_urls(fields),
        timezone=fields.optional_text("timezone"),
        model=fields.optional_text("model"),
        workspace_options=read_options(request.get("workspace_options"), notes=notes),
        workspace_state=state,
        tools=tuple(redact(tool.raw) for tool in fields.objects("tools")),
        skills_catalog=_skills(fields, "skills_catalog"),
        selected_skills=_skills(fields, "selected_skills"),
        env=_env(request, among.values(), state=state),
        notes=notes.sentences(),
    )


def _read_messages(raw: Sequence[Json], request: JsonObject, notes: Notes) -> tuple[Message, ...]:
    if has_more_pieces(raw, request.get("context")):
        raise _too_many_pieces()
    check_encoded_calls(raw)
    messages = read_messages(raw, notes=notes)
    if names_more_sources(messages):
        raise _too_many_pieces()
    return messages


def _request(body: bytes | JsonObject, notes: Notes) -> JsonObject:
    value: Json
    if isinstance(body, Mapping):
        value, marks = storable(body)
        if marks:
            notes.add("Characters that cannot be stored were replaced with U+FFFD.")
    else:
        parsed = parse(body)
        value = parsed.value
        for note in parsed.notes:
            notes.add(note)
    if not isinstance(value, Mapping):
        raise UnusableQuery(
            'The body is not a JSON object. Send {"messages": [...]}.', code="not-an-object"
        )
    return value


def _messages(request: JsonObject, most: int) -> list[Json] | tuple[Json, ...]:
    raw = request.get("messages")
    if raw is not None and not isinstance(raw, list | tuple):
        raise UnusableQuery(
            'messages is not a list. Send {"messages": [{"role": "human", "content": "..."}]}.',
            code="messages-not-a-list",
        )
    if not raw:
        raise UnusableQuery("messages list cannot be empty.", code="messages-empty")
    if len(raw) > most:
        raise UnusableQuery(
            f"The chat has {len(raw):,} messages; {most:,} are the most that this server takes. "
            "Start a new chat.",
            code="too-many-messages",
        )
    return raw


def _nothing_asked(data: Sequence[object]) -> UnusableQuery:
    fault = "The messages are data alone" if data else "None of the messages can be read"
    return UnusableQuery(
        f'{fault}. Send at least one {{"role": "human", "content": "..."}}.',
        code="no-usable-message",
    )


def _too_many_pieces() -> UnusableQuery:
    return UnusableQuery(
        f"The question brings data in more than {MOST_PIECES:,} pieces (results, items, "
        "citations). Send less data, or rows as one table.",
        code="too-many-pieces",
    )


def _env(request: JsonObject, data: Iterable[Json], *, state: JsonObject) -> Mapping[str, Json]:
    """The request without its messages; the state of the workspace is large, and clean already."""
    is_clean = isinstance(request.get("workspace_state"), Mapping)
    env = {key: value for key, value in request.items() if key != "messages"}
    if told := [*data]:  # what the model saw of it is told like the context
        env["context"] = [*told, *_listed(request.get("context"))]
    if not is_clean:
        return redact(env)
    return {**redact({**env, "workspace_state": None}), "workspace_state": state}


def _listed(context: Json) -> Sequence[Json]:
    if isinstance(context, list | tuple):
        return context
    return [] if context is None else [context]


def _urls(fields: Fields) -> tuple[str, ...]:
    urls = fields.texts("urls")
    if len(urls) > MAX_URLS:
        fields.notes.add(
            f"`urls` has more than {MAX_URLS} elements; the first {MAX_URLS} are used."
        )
    return urls[:MAX_URLS]


def _skills(fields: Fields, name: str) -> tuple[JsonObject, ...]:
    skills = []
    for skill in fields.objects(name):
        if skill.text("slug"):
            skills.append(skill.raw)
        else:
            skill.notes.dropped(skill.path, wanted="a skill with a slug")
    return tuple(skills)
