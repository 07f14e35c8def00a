"""Parse a query body of any generation as leniently as the protocol's history requires.

Source: the request bodies of the three generations of the copilot protocol. A wrong field is left
out with a note; only a body without any usable message is rejected.
"""

from collections.abc import Iterator, Mapping, Sequence

from protocol.data import MISSING, Missing
from protocol.json import Fields, Json, JsonObject, Notes, clean_json, object_of, objects_of, parse
from protocol.message_parsing import (
    decode_call,
    find_data_messages,
    is_data,
    parse_data_message,
    parse_messages,
    parse_source_data,
    role_of,
)
from protocol.models import (
    ContextItem,
    Generation,
    Query,
    Widget,
    WidgetParam,
    Widgets,
    is_upload,
)
from protocol.redaction import redact

MAX_URLS = 4  # the limit of the protocol
MAX_MESSAGES = 2000  # a typical chat of a day has a few dozen
_REPLACED = "Characters that cannot be stored were replaced with U+FFFD."
_ONLY_THREE = frozenset(
    {"timezone", "workspace_state", "workspace_options", "tools", "model", "skills_catalog"}
)
_GROUPS = ("primary", "secondary", "extra")
_CALL_ARGUMENTS = "copilot_function_call_arguments"
_OFF = (False, "", None)  # Workspace omits an option that is off; the docs promise false
# Source: column definitions in the settings of a widget, and equivalent keys of others.
_COLUMN_NAMES = ("field", "name", "headerName")


class UnusableQuery(ValueError):
    """A body without a question; `public` states what to send, `code` is for programs."""

    def __init__(self, public: str, *, code: str) -> None:
        super().__init__(public)
        self.public = public
        self.code = code


def parse_query(
    body: bytes | JsonObject, *, hint: Generation | None = None, max_messages: int = MAX_MESSAGES
) -> Query:
    """Parse one request: the bytes of its body, or the parsed object.

    `hint` is the generation according to the URL; the body's shape wins. The notes of the query
    name what was left out or changed. Texts contain neither NUL nor lone surrogates.

    Raises:
        MalformedJson: The bytes are not valid JSON.
        UnusableQuery: The body is not an object, or has no usable message, or too many.
    """
    notes = Notes()
    request = _load_request(body, notes)
    raw = _raw_messages(request, max_messages)
    messages = parse_messages(raw, notes=notes)
    data = find_data_messages(raw)
    if not messages:
        reason = "The messages are data alone" if data else "None of the messages can be read"
        raise UnusableQuery(
            f'{reason}. Send at least one {{"role": "human", "content": "..."}}.',
            code="no-usable-message",
        )
    fields = Fields(request, path="", notes=notes)
    urls = fields.texts("urls")
    if len(urls) > MAX_URLS:
        notes.add(f"`urls` has more than {MAX_URLS} elements; the first {MAX_URLS} are used.")
    parsed_data = (parse_data_message(one, path=path, notes=notes) for path, one in data.items())
    context = request.get("context")
    listed = context if isinstance(context, list | tuple) else [context] if context else []
    env = {name: value for name, value in request.items() if name != "messages"}
    if data:
        env["context"] = [*data.values(), *listed]
    return Query(
        messages=messages,
        generation=_detect_generation(request, hint=hint),
        widgets=parse_widgets(request.get("widgets"), notes=notes),
        context=(*filter(None, parsed_data), *_parse_context(listed, notes=notes)),
        urls=urls[:MAX_URLS],
        timezone=fields.optional_text("timezone"),
        model=fields.optional_text("model"),
        workspace_options=parse_options(request.get("workspace_options"), notes=notes),
        workspace_state=redact(fields.object("workspace_state")),
        tools=tuple(redact(tool.raw) for tool in fields.objects("tools")),
        skills_catalog=tuple(_parse_skills(fields, "skills_catalog")),
        selected_skills=tuple(_parse_skills(fields, "selected_skills")),
        env=redact(env),
        notes=tuple(notes),
    )


def parse_widgets(raw: Json, *, notes: Notes) -> Widgets:
    """Parse the offered widgets; the flat list of generation 1 counts as selected."""
    if raw is None:
        return Widgets()
    if isinstance(raw, list | tuple):
        listed = Fields({"widgets": raw}, path="", notes=notes)
        return Widgets(primary=tuple(_parse_group(listed, "widgets")))
    if not isinstance(raw, Mapping):
        notes.dropped("widgets", wanted="an object or a list")
        return Widgets()
    groups = Fields(raw, path="widgets", notes=notes)
    return Widgets(**{name: tuple(_parse_group(groups, name)) for name in _GROUPS})


def parse_options(raw: Json, *, notes: Notes) -> dict[str, bool | str]:
    """Parse the options that a user switched on or filled in.

    They are an object (generation 3 today) or a list of `key` and `key=value` (until May 2026).
    """
    pairs: list[tuple[str, Json]] = []
    if isinstance(raw, Mapping):
        pairs = list(raw.items())
    elif isinstance(raw, list | tuple):
        for index, one in enumerate(raw):
            if isinstance(one, str) and one.strip():
                key, equals, text = one.partition("=")
                pairs.append((key.strip(), text.strip() if equals else True))
            else:
                notes.dropped(f"workspace_options[{index}]", wanted="text")
    elif raw is not None:
        notes.dropped("workspace_options", wanted="an object or a list")
    options: dict[str, bool | str] = {}
    for key, value in pairs:
        if not isinstance(value, bool | str | None):
            notes.dropped(f"workspace_options.{key}", wanted="true or text")
        elif value not in _OFF:
            options[key] = value or True
    return options


def _load_request(body: bytes | JsonObject, notes: Notes) -> JsonObject:
    value: Json
    if isinstance(body, Mapping):
        value = clean_json(body)
        is_changed = value != body
    else:
        value, is_changed = parse(body)
    if is_changed:
        notes.add(_REPLACED)
    if not isinstance(value, Mapping):
        raise UnusableQuery(
            'The body is not a JSON object. Send {"messages": [...]}.', code="not-an-object"
        )
    return value


def _raw_messages(request: JsonObject, max_messages: int) -> Sequence[Json]:
    raw = request.get("messages")
    if raw is not None and not isinstance(raw, list | tuple):
        raise UnusableQuery(
            'messages is not a list. Send {"messages": [{"role": "human", "content": "..."}]}.',
            code="messages-not-a-list",
        )
    if not raw:
        raise UnusableQuery("messages list cannot be empty.", code="messages-empty")
    if len(raw) > max_messages:
        raise UnusableQuery(
            f"The chat has {len(raw):,} messages; {max_messages:,} are the most that this server "
            "takes. Start a new chat.",
            code="too-many-messages",
        )
    return raw


def _parse_skills(fields: Fields, name: str) -> Iterator[JsonObject]:
    for skill in fields.objects(name):
        if skill.text("slug"):
            yield skill.raw
        else:
            skill.notes.dropped(skill.path, wanted="a skill with a slug")


def _parse_context(raw: Sequence[Json], *, notes: Notes) -> Iterator[ContextItem]:
    """Parse artifacts of the chat (generations 2 and 3), widget data (1) or Data messages."""
    for index, one in enumerate(raw):
        path = f"context[{index}]"
        if isinstance(one, str):
            yield ContextItem(data=parse_source_data(one, path=path, notes=notes))
        elif not isinstance(one, Mapping):
            notes.dropped(path, wanted="an object or text")
        elif is_data(one):
            if item := parse_data_message(one, path=path, notes=notes):
                yield item
        else:
            fields = Fields(one, path=path, notes=notes)
            name = "data" if one.get("data") is not None else "content"
            yield ContextItem(
                uuid=fields.optional_text("uuid"),
                name=fields.text("name"),
                description=fields.text("description"),
                data=parse_source_data(one.get(name), path=fields.at(name), notes=notes),
                metadata=fields.object("metadata"),
            )


def _parse_group(fields: Fields, name: str) -> Iterator[Widget]:
    for one in fields.objects(name):
        uuid = one.optional_text("uuid")  # uploaded files have no uuid
        widget_id = one.text("widget_id") or one.text("id")
        if not uuid and not widget_id:
            one.notes.dropped(one.path, wanted="a widget with a uuid or a widget_id")
            continue
        yield Widget(
            origin=one.text("origin"),
            widget_id=widget_id,
            uuid=uuid,
            name=one.text("name"),
            description=one.text("description"),
            params=_parse_params(one),
            metadata=one.object("metadata"),
            source=one.optional_text("source"),
            category=one.optional_text("category"),
            sub_category=one.optional_text("sub_category"),
            columns=tuple(_parse_columns(one)),
        )


def _parse_columns(fields: Fields) -> Iterator[str]:
    """Return the names of the columns; a column may be an object with the name of its values."""
    for index, one in enumerate(fields.list("columns")):
        name = next(filter(None, map(object_of(one).get, _COLUMN_NAMES)), one)
        if isinstance(name, str):
            yield name
        else:
            fields.notes.dropped(f"{fields.at('columns')}[{index}]", wanted="the name of a column")


def _parse_params(fields: Fields) -> tuple[WidgetParam, ...]:
    params: dict[str, WidgetParam] = {}
    for one in fields.objects("params"):
        name = one.text("name")
        if not name:
            one.notes.dropped(one.path, wanted="a parameter with a name")
        elif name in params:
            one.notes.add(f"`{one.path}` repeats the parameter {name}; the first one is used.")
        else:
            params[name] = WidgetParam(
                name=name,
                type=one.text("type") or "string",
                description=one.text("description"),
                current_value=_param_value(one, "current_value"),
                executed_value=_param_value(one, "executed_value"),
                default_value=_param_value(one, "default_value"),
                options=tuple(one.list("options")),
                multi_select=one.flag("multi_select"),
                split_on_citation=one.flag("split_param_on_citation"),
                get_options=one.flag("get_options"),
                options_params=tuple(option.raw for option in one.objects("options_params")),
            )
    return tuple(params.values())


def _param_value(fields: Fields, name: str) -> "Json | Missing":
    """Read a value; both absence and the client's marker for it are missing. Null is a value."""
    value = fields.raw.get(name, MISSING.value)
    return MISSING if value == MISSING.value else value


def _detect_generation(body: JsonObject, *, hint: Generation | None) -> Generation:
    """Detect the dialect to answer in from the shape of the request.

    The request's own fields outweigh its messages: stored messages may be from another client, but
    the answer is for the client that sends the request.
    """
    widgets = body.get("widgets")
    is_list = isinstance(widgets, list | tuple)
    if not _ONLY_THREE.isdisjoint(body):
        return Generation.THREE
    if is_list and widgets:
        return Generation.ONE
    messages = objects_of(body.get("messages"))
    results = [one for one in messages if role_of(one) == "tool"]
    answers = (one for one in messages if role_of(one) == "ai")
    calls = [call for one in answers if (call := decode_call(one.get("content")))]
    elements = [one for result in results for one in objects_of(result.get("data"))]
    if any("agent_id" in one for one in messages) or any("items" in one for one in elements):
        return Generation.THREE
    if (
        is_list
        or any("widget_uuid" in object_of(one.get("input_arguments")) for one in results + calls)
        or any(one.get("content") is not None for one in results)
        or any(isinstance(one.get("data"), Mapping) for one in results)
    ):
        return Generation.ONE
    if any(_CALL_ARGUMENTS in one for one in results + calls):
        return Generation.TWO
    if any("content" in one and "error_type" not in one for one in elements):
        return Generation.TWO
    grouped = [
        one
        for group in _GROUPS
        for one in objects_of(object_of(widgets).get(group))
        if not is_upload(origin=str(one.get("origin")), id=str(one.get("widget_id")))
    ]
    if grouped and not any(one.get("uuid") for one in grouped):
        return Generation.TWO
    return hint or Generation.THREE
