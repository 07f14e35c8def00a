"""Parse a query body of any generation as leniently as the protocol's history requires.

Source: the request bodies of the three generations of the copilot protocol. A wrong field is left
out with a note; only a body without any usable message is rejected.
"""

from collections.abc import Iterator, Mapping

from protocol.data import MISSING, Missing
from protocol.fields import Field, Notes
from protocol.json import Json, JsonObject, clean_json, list_of, object_of, objects_of, parse
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
    request = _load_request(body)
    listed = _find_messages(request, max_messages)
    messages = parse_messages(listed)
    data = find_data_messages(listed)
    if not messages:
        reason = "The messages are data alone" if data else "None of the messages can be read"
        raise UnusableQuery(
            f'{reason}. Send at least one {{"role": "human", "content": "..."}}.',
            code="no-usable-message",
        )
    urls = request.texts("urls")
    if len(urls) > MAX_URLS:
        request.notes.add(
            f"`urls` has more than {MAX_URLS} elements; the first {MAX_URLS} are used."
        )
    context = request.member("context")
    if not isinstance(context.value, list | tuple):
        context = Field(
            [context.value] if context.value else [], notes=request.notes, path="context"
        )
    env = {name: value for name, value in request.members.items() if name != "messages"}
    if data:
        env["context"] = [*(one.value for one in data), *list_of(context.value)]
    return Query(
        messages=messages,
        generation=_detect_generation(request.members, hint=hint),
        widgets=_parse_widgets(request),
        context=(*filter(None, map(parse_data_message, data)), *_parse_context(context)),
        urls=urls[:MAX_URLS],
        timezone=request.optional_text("timezone"),
        model=request.optional_text("model"),
        workspace_options=_parse_options(request.member("workspace_options")),
        workspace_state=redact(request.object("workspace_state")),
        tools=tuple(redact(tool.members) for tool in request.objects("tools")),
        skills_catalog=tuple(_parse_skills(request, "skills_catalog")),
        selected_skills=tuple(_parse_skills(request, "selected_skills")),
        env=redact(env),
        notes=tuple(request.notes),
    )


def _parse_widgets(request: Field) -> Widgets:
    """Parse the offered widgets; the flat list of generation 1 counts as selected."""
    if isinstance(request.members.get("widgets"), list | tuple):
        return Widgets(primary=tuple(_parse_group(request, "widgets")))
    groups = request.member("widgets")
    if groups.value is not None and not isinstance(groups.value, Mapping):
        groups.drop("an object or a list")
    return Widgets(**{name: tuple(_parse_group(groups, name)) for name in _GROUPS})


def _parse_options(field: Field) -> dict[str, bool | str]:
    """Parse the options that a user switched on or filled in.

    They are an object (generation 3 today) or a list of `key` and `key=value` (until May 2026).
    """
    pairs = list(field.members.items())
    if isinstance(field.value, list | tuple):
        for one in field.elements():
            if isinstance(one.value, str) and one.value.strip():
                key, equals, text = one.value.partition("=")
                pairs.append((key.strip(), text.strip() if equals else True))
            else:
                one.drop("text")
    elif field.value is not None and not isinstance(field.value, Mapping):
        field.drop("an object or a list")
    options: dict[str, bool | str] = {}
    for key, value in pairs:
        if not isinstance(value, bool | str | None):
            field.member(key).drop("true or text")
        elif value not in _OFF:
            options[key] = value or True
    return options


def _load_request(body: bytes | JsonObject) -> Field:
    if isinstance(body, Mapping):
        value: Json = clean_json(body)
        is_changed = value != body
    else:
        value, is_changed = parse(body)
    if not isinstance(value, Mapping):
        raise UnusableQuery(
            'The body is not a JSON object. Send {"messages": [...]}.', code="not-an-object"
        )
    return Field(value, notes=Notes({_REPLACED: None} if is_changed else {}))


def _find_messages(request: Field, max_messages: int) -> Field:
    listed = request.member("messages")
    if listed.value is not None and not isinstance(listed.value, list | tuple):
        raise UnusableQuery(
            'messages is not a list. Send {"messages": [{"role": "human", "content": "..."}]}.',
            code="messages-not-a-list",
        )
    count = len(list_of(listed.value))
    if not count:
        raise UnusableQuery("messages list cannot be empty.", code="messages-empty")
    if count > max_messages:
        raise UnusableQuery(
            f"The chat has {count:,} messages; {max_messages:,} are the most that this server "
            "takes. Start a new chat.",
            code="too-many-messages",
        )
    return listed


def _parse_skills(request: Field, name: str) -> Iterator[JsonObject]:
    for skill in request.objects(name):
        if skill.text("slug"):
            yield skill.members
        else:
            skill.drop("a skill with a slug")


def _parse_context(context: Field) -> Iterator[ContextItem]:
    """Parse artifacts of the chat (generations 2 and 3), widget data (1) or Data messages."""
    for one in context.elements():
        if isinstance(one.value, str):
            yield ContextItem(data=parse_source_data(one))
        elif not isinstance(one.value, Mapping):
            one.drop("an object or text")
        elif is_data(one.value):
            if item := parse_data_message(one):
                yield item
        else:
            name = "data" if one.members.get("data") is not None else "content"
            yield ContextItem(
                uuid=one.optional_text("uuid"),
                name=one.text("name"),
                description=one.text("description"),
                data=parse_source_data(one.member(name)),
                metadata=one.object("metadata"),
            )


def _parse_group(groups: Field, name: str) -> Iterator[Widget]:
    for one in groups.objects(name):
        uuid = one.optional_text("uuid")  # uploaded files have no uuid
        widget_id = one.text("widget_id") or one.text("id")
        if not uuid and not widget_id:
            one.drop("a widget with a uuid or a widget_id")
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


def _parse_columns(widget: Field) -> Iterator[str]:
    """Return the names of the columns; a column may be an object with the name of its values."""
    for one in widget.member("columns").elements():
        name = next(filter(None, map(one.members.get, _COLUMN_NAMES)), one.value)
        if isinstance(name, str):
            yield name
        else:
            one.drop("the name of a column")


def _parse_params(widget: Field) -> tuple[WidgetParam, ...]:
    params: dict[str, WidgetParam] = {}
    for one in widget.objects("params"):
        name = one.text("name")
        if not name:
            one.drop("a parameter with a name")
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
                options_params=tuple(option.members for option in one.objects("options_params")),
            )
    return tuple(params.values())


def _param_value(param: Field, name: str) -> "Json | Missing":
    """Read a value; both absence and the client's marker for it are missing. Null is a value."""
    value = param.members.get(name, MISSING.value)
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
