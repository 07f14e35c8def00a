"""Read the conversation: chat messages, function calls and their results, of every generation."""

from collections.abc import Mapping, Sequence

from protocol.functions import GET_WIDGET_DATA
from protocol.json import Json, JsonObject, objects_of
from protocol.markers import artifact_names, strip_markers
from protocol.models import (
    ORCHESTRATOR,
    AiMessage,
    CallMessage,
    HumanMessage,
    Message,
    ResultMessage,
    SourceResult,
)
from protocol.reading.data import read_results
from protocol.reading.data_messages import is_data_message, says_data
from protocol.reading.fields import Fields
from protocol.reading.notes import Notes
from protocol.strict_json import MalformedJson, loads

_ROLES = {"human": "human", "user": "human", "ai": "ai", "assistant": "ai", "tool": "tool"}
_MARKS = "[{,:"  # one stands before each value but the first
_MAX_ENCODINGS = 3  # some clients encode the call as a text twice
# What calls that came as texts hold together: the count of a body's values sees none of them. A model
# may write 100,000 as the arguments of one, which come back with each request of the chat.
_MOST_ENCODED = 500_000


def read_messages(raw: Sequence[Json], *, notes: Notes) -> tuple[Message, ...]:
    """Read every message that is of use, oldest first; Data messages are none of the chat's."""
    messages: list[Message] = []
    for index, one in enumerate(raw):
        path = f"messages[{index}]"
        if not isinstance(one, Mapping):
            notes.dropped(path, wanted="an object")
            continue
        if is_data_message(one):
            continue  # read with the context
        previous = messages[-1] if messages else None
        message = _read(Fields(one, path=path, notes=notes), previous=previous)
        if message is not None:
            messages.append(message)
    return tuple(_with_tasks(messages))


def check_encoded_calls(raw: Sequence[Json]) -> None:
    """Looks at calls that came as texts, before memory is spent on what they say.

    Raises:
        MalformedJson: They hold too many values together.
    """
    left = _MOST_ENCODED
    for one in objects_of(raw):
        text = text_of_parts(one.get("content")) if raw_role(one) == "ai" else None
        if isinstance(text, str) and _may_be_call(text):
            left -= sum(map(text.count, _MARKS))
            if left < 0:
                raise MalformedJson(
                    f"The calls in the chat have more than {_MOST_ENCODED:,} JSON values. Start a "
                    "new chat.",
                    code="too-many-tokens",
                )


def decoded_call(content: Json) -> JsonObject | None:
    """The call that an ai message's content holds as an object or as (doubly) encoded JSON."""
    value = text_of_parts(content)
    for _ in range(_MAX_ENCODINGS):
        if not isinstance(value, str) or not _may_be_call(value):
            break
        try:
            value = loads(value.encode(errors="replace"))
        except MalformedJson:
            return None
    if isinstance(value, Mapping) and isinstance(value.get("function"), str):
        return value
    return None


def _may_be_call(text: str) -> bool:
    return text.lstrip().startswith(("{", '"'))


def text_of_parts(content: Json) -> Json:
    """The text of a content that is a list of parts; any other content as it is.

    Source: the chat APIs of model vendors, in whose words some clients write: a part is an object
    with a `text`, or a text itself. What is neither, such as an image, has no text.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping) and content.get("type") == "text":
        content = [content]
    if not isinstance(content, list | tuple):
        return content
    texts = [text for part in content if (text := _text_of(part)) is not None]
    return "\n".join(texts) if texts else content


def _text_of(part: Json) -> str | None:
    text = part.get("text") if isinstance(part, Mapping) else part
    return text if isinstance(text, str) else None


def raw_role(message: JsonObject) -> str | None:
    """human, ai or tool, also when a model provider's word or stray spaces stand there."""
    role = message.get("role")
    if not isinstance(role, str):
        return None
    return _ROLES.get(role) or _ROLES.get(role.strip().lower())


def _read(fields: Fields, *, previous: Message | None) -> Message | None:
    match raw_role(fields.raw):
        case None if _is_text(fields.raw):
            return _human(fields)
        case "human":
            return _human(fields)
        case "ai":
            return _ai(fields)
        case "tool":
            return _result(fields, previous=previous)
    _note_left_out(fields, "its role is not human, ai or tool")
    return None


def _is_text(raw: JsonObject) -> bool:
    """Whether a message is a text without a role, which is the user's.

    Source: the text messages of 005 Agent/Data, flat or in an envelope.
    """
    content = raw.get("content", raw)
    is_text = isinstance(content, Mapping) and content.get("type") == "text"
    return is_text and raw.get("role") is None


def _note_left_out(fields: Fields, reason: str) -> None:
    fields.notes.add(f"`{fields.path}` was left out: {reason}.")


def _content(fields: Fields) -> Json:
    """The content; of a list of parts the text, and a note of the parts without one."""
    content = fields.raw.get("content")
    if content is None and fields.raw.get("type") == "text":
        content = fields.raw.get("text")
    text = text_of_parts(content)
    if text is not content and isinstance(content, list | tuple):
        for index, part in enumerate(content):
            if _text_of(part) is None and not says_data(part):
                fields.notes.dropped(f"{fields.at('content')}[{index}]", wanted="text")
    return text


def _human(fields: Fields) -> Message | None:
    content = _content(fields)
    if isinstance(content, str):
        return HumanMessage(content)
    _note_left_out(fields, "its content is not text")
    return None


def _ai(fields: Fields) -> Message | None:
    content = _content(fields)
    if call := decoded_call(content):
        return _call(Fields(call, path=fields.at("content"), notes=fields.notes))
    if isinstance(content, str):
        return AiMessage(
            strip_markers(content),
            agent_id=fields.optional_text("agent_id"),
            artifacts=artifact_names(content),
        )
    _note_left_out(fields, "its content is neither text nor a function call")
    return None


def _call(fields: Fields) -> CallMessage:
    own = ("function", "input_arguments")
    extra = {key: value for key, value in fields.raw.items() if key not in own}
    return CallMessage(fields.text("function"), fields.object("input_arguments"), extra)


def _result(fields: Fields, *, previous: Message | None) -> ResultMessage:
    """A tool message; what it does not repeat is taken from the call before it."""
    call = previous if isinstance(previous, CallMessage) else CallMessage(GET_WIDGET_DATA)
    function = fields.optional_text("function")
    if function is None:
        fields.notes.add(f"`{fields.at('function')}` is missing; {call.function} was assumed.")
    return ResultMessage(
        function or call.function,
        fields.object("input_arguments") or call.input_arguments,
        _results(fields),
        fields.object("extra_state"),
    )


def _results(fields: Fields) -> tuple[SourceResult, ...]:
    if fields.raw.get("data") is not None:
        return read_results(fields.raw["data"], path=fields.at("data"), notes=fields.notes)
    if fields.raw.get("content") is not None:
        content = fields.raw["content"]
        text = _content(fields) if _is_parts(content) else content
        return read_results(text, path=fields.at("content"), notes=fields.notes)
    fields.notes.add(f"`{fields.path}` has neither `data` nor `content`; it counts as empty.")
    return ()


def _is_parts(content: Json) -> bool:
    parts = content if isinstance(content, list | tuple) else ()
    return any(isinstance(one, Mapping) and one.get("type") == "text" for one in parts)


def _with_tasks(messages: Sequence[Message]) -> list[Message]:
    """Turn the orchestrator's tasks into the user's turns.

    A task is the orchestrator's message that is last, or that an agent took up: what a human
    message follows was the orchestrator's own answer.
    """
    following = [*messages[1:], None]
    return [
        HumanMessage(message.text, agent_id=message.agent_id)
        if isinstance(message, AiMessage)
        and message.agent_id == ORCHESTRATOR
        and not isinstance(after, HumanMessage)
        else message
        for message, after in zip(messages, following, strict=False)
    ]
