"""Read Data messages that a client sends, among its messages or its context.

Source: 005 Agent/Data of the Acts of Emergence: a message is flat or in an envelope `{role,
content}`, and says by its type that it is data.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from protocol.data.message import MISSING, TYPES, kind_from, read_data_message
from protocol.json import Json, JsonObject
from protocol.json_schema import schema_fault
from protocol.models import ContextItem
from protocol.reading.notes import Notes

# Values in all schemas of a request that are checked. One schema takes a millisecond or two, and a
# request of a few hundred kilobytes may have tens of thousands, during which nobody else is answered.
MOST_CHECKED = 400
_CHARACTERS_OF_A_VALUE = 40  # a pattern of so many takes as long as a value does, a tenth of a ms


class SchemaChecks:
    """Checks the schemas of one request, as far as that is cheap; only a model reads the others."""

    def __init__(self) -> None:
        self._left = MOST_CHECKED

    def fault(self, schema: Json) -> str:
        """What is wrong with a schema; empty where nothing is, or nobody looked."""
        size = _size(schema, most=self._left)
        if size > self._left:
            return ""
        self._left -= size
        return schema_fault(schema)


def says_data(raw: object) -> bool:
    """Whether an element says of itself that it is a Data message."""
    return isinstance(raw, Mapping) and _body(raw).get("type") in TYPES


def is_data_message(raw: object) -> bool:
    """Whether an element of `messages` is a Data message, or an envelope of nothing else.

    The results of tools are not, whatever they contain, nor is what somebody says in words.
    """
    if not isinstance(raw, Mapping) or _is_words(raw) or _is_result(raw):
        return False
    content = raw.get("content")
    if isinstance(content, list | tuple):
        return bool(content) and all(map(says_data, content))
    return says_data(raw)


def data_among(raw: Sequence[Json]) -> Mapping[str, JsonObject]:
    """The Data messages among the messages of a chat, as they came and in their order, by path."""
    return dict(_among(raw))


def read_data_messages(
    among: Mapping[str, JsonObject], *, notes: Notes, schemas: SchemaChecks
) -> tuple[ContextItem, ...]:
    """Read the Data messages of a chat, in their order.

    Args:
        among: What `data_among` found.
        notes: Take what is wrong with them.
        schemas: Check those of the request.
    """
    read = (
        read_data_item(one, path=path, notes=notes, schemas=schemas) for path, one in among.items()
    )
    return tuple(item for item in read if item is not None)


def read_data_item(
    raw: JsonObject, *, path: str, notes: Notes, schemas: SchemaChecks
) -> ContextItem | None:
    """Read an element that says that it is a Data message; one that is none is noted.

    A client may not speak for anybody but the user, nor break a heading with its kind.
    """
    wanted = _wanted(raw, schemas)
    if wanted:
        notes.dropped(path, wanted=wanted)
        return None
    body = _body(raw)
    kind = body.get("kind")
    message = read_data_message(
        {
            "_instance": raw.get("_instance"),
            **body,
            **({"kind": kind_from(str(kind))} if kind else {}),
        }
    )
    return ContextItem(message=message and replace(message, role="user"))


def _among(raw: Sequence[Json]) -> Iterator[tuple[str, JsonObject]]:
    for index, one in enumerate(raw):
        if not isinstance(one, Mapping) or _is_words(one) or _is_result(one):
            continue
        path, content = f"messages[{index}]", one.get("content")
        if isinstance(content, list | tuple):
            for place, part in enumerate(content):
                if isinstance(part, Mapping) and says_data(part):
                    yield f"{path}.content[{place}]", part
        elif is_data_message(one):
            yield path, one


def _wanted(raw: JsonObject, schemas: SchemaChecks) -> str:
    body = _body(raw)
    words = [body.get("kind"), body.get("description")]
    if not all(isinstance(one, str | None) for one in words):
        return "a Data message whose kind and description are text"
    if not isinstance(body.get("_instance", raw.get("_instance")), str | int | None):
        return "a Data message whose _instance is text"
    schema = body.get("schema", MISSING)
    if schema is not MISSING and schemas.fault(schema):
        return "a Data message with a JSON Schema"
    message = read_data_message({**body, "kind": None})
    says = message and (message.data, message.schema)
    if says == (MISSING, MISSING) and not str(body.get("description") or "").strip():
        return "a Data message with data, a schema or a description"
    return ""


def _body(raw: JsonObject) -> JsonObject:
    content = raw.get("content")
    return content if isinstance(content, Mapping) else raw


def _is_words(raw: JsonObject) -> bool:
    return isinstance(raw.get("content"), str) and "role" in raw


def _is_result(raw: JsonObject) -> bool:
    return str(raw.get("role")).strip().lower() == "tool"


def _size(value: Json, *, most: int) -> int:
    count, pending = 0, [value]
    while pending and count <= most:
        one = pending.pop()
        count += 1
        if isinstance(one, str):
            count += len(one) // _CHARACTERS_OF_A_VALUE
        elif isinstance(one, Mapping):
            pending.extend(one.values())
            count += sum(len(name) // _CHARACTERS_OF_A_VALUE for name in one)
        elif isinstance(one, list | tuple):
            pending.extend(one)
    return count
