"""A Data message, and how one is read from JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
import re

from protocol.json import Json, text_of

KIND = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
NO_KIND = "data"  # all messages without a kind are one identity
TYPES = ("data", "input", "state", "error")
_NOT_DATA = frozenset({"type", "id", "role", "kind", "description", "schema", "data"})
_STRANGE = re.compile(r"[^A-Za-z0-9_.-]+")
_INPUT = "Input data MUST be treated as a structured prompt"


class Missing(Enum):
    """What a message does not say, as opposed to what it gives as null."""

    MISSING = "missing"


MISSING = Missing.MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class DataMessage:
    """Data, and what it means.

    Attributes:
        data: Any JSON value; null is data, `MISSING` is none.
        schema: A JSON Schema of the data, for the model and for people.
        kind: The role of the data, "user" or "state"; messages of one kind are one thing.
        description: A sentence about the data, on one line.
        instance: Sets data of one kind apart; without it the data is everybody's.
        role: Who says it to the model.
    """

    data: "Json | Missing" = MISSING
    schema: "Json | Missing" = MISSING
    kind: str = NO_KIND
    description: str = ""
    instance: str | None = None
    role: str = "user"

    @property
    def identity(self) -> tuple[str, str | None]:
        """Messages of one identity are merged into one."""
        return self.kind, self.instance


def read_data_message(raw: Mapping[str, Json]) -> DataMessage | None:
    """Reads a Data message, flat or in an envelope `{role, content}`.

    Args:
        raw: `{"type": "data", ...}`, or one of the types `input`, `state` and `error`, whose data
            may stand under the name of the type, under `data`, or beside the other keys.

    Returns:
        The message, or None for a message of another type.

    Raises:
        ValueError: It has no type, or its kind cannot stand in a heading.

    Examples:
        >>> read_data_message({"type": "state", "tick": 3}).data
        {'tick': 3}
    """
    content = raw.get("content")
    body = content if isinstance(content, Mapping) else raw
    type_ = body.get("type")
    if not isinstance(type_, str):
        raise ValueError("A message needs a type, such as 'text' or 'data'.")
    if type_ not in TYPES:
        return None
    instance = body.get("_instance", raw.get("_instance"))
    kind = _kind(body.get("kind"), type_=type_)
    default = _INPUT if type_ == "input" and "description" not in body else ""
    return DataMessage(
        data=_data(body, type_=type_),
        schema=body.get("schema", MISSING),
        kind=kind,
        description=text_of(body.get("description")) or default,
        instance=None if instance is None else one_line(str(instance)),
        role=text_of(raw.get("role")) or "user",
    )


def kind_from(text: str) -> str:
    """A kind made of any text: what cannot stand in one becomes a hyphen.

    Examples:
        >>> kind_from("2 big ¶tables")
        '_2-big-tables'
    """
    plain = _STRANGE.sub("-", text).strip("-")
    if not plain:
        return NO_KIND
    return (plain if KIND.match(plain) else f"_{plain}")[:64]


def one_line(text: str) -> str:
    """The text on one line, so that it cannot pretend to be a heading of its own."""
    line = " ".join(text.split())
    return f"\\{line}" if line.startswith(("## Data:", "_instance:", "Schema for ¶")) else line


def _kind(raw: Json, *, type_: str) -> str:
    kind = text_of(raw).strip()
    if any(mark in kind for mark in "¶\n\r\u2028\u2029\u0085\v\f"):
        raise ValueError("A kind is one line without a ¶.")
    return kind or (NO_KIND if type_ == "data" else type_)


def _data(body: Mapping[str, Json], *, type_: str) -> "Json | Missing":
    if type_ == "data" or ("data" in body and type_ not in body):
        return body.get("data", MISSING)
    if type_ in body:
        return body[type_]
    rest = {key: value for key, value in body.items() if not _is_reserved(key)}
    return rest or MISSING


def _is_reserved(key: str) -> bool:
    return key in _NOT_DATA or key.startswith("_")
