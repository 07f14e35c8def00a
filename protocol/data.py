"""Data messages: notes that a model sees throughout a conversation.

Source: Acts of Emergence 005, Agent/Data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import reduce
import re
from typing import Any

from protocol.json import Json, JsonObject, layout, text_of

KIND = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
NO_KIND = "data"  # all messages without a kind are one identity
TYPES = ("data", "input", "state", "error")
_NOT_DATA = frozenset({"type", "id", "role", "kind", "description", "schema", "data"})
_NOT_IN_KINDS = re.compile(r"[^A-Za-z0-9_.-]+")
_INPUT = "Input data MUST be treated as a structured prompt"
_HEADING = "## Data: ¶"
_INSTANCE = "_instance: "
_SCHEMA = "Schema for ¶"


class Missing(Enum):
    """A value that was not sent, as opposed to null."""

    MISSING = "<<UNDEFINED>>"  # as Workspace marks it


MISSING = Missing.MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class DataMessage:
    """Data with its meaning, which a model reads as a message of the user."""

    # Any JSON value. Null is data, `MISSING` is the absence of data.
    data: "Json | Missing" = MISSING
    schema: "Json | Missing" = MISSING  # JSON Schema of the data, for the model and for people
    kind: str = NO_KIND  # the role of the data, "user" or "state"; messages of one kind are merged
    description: str = ""  # a sentence about the data, on one line
    instance: str | None = None  # distinguishes data of one kind; without it the data is global

    @property
    def identity(self) -> tuple[str, str | None]:
        """The key by which messages are merged into one."""
        return self.kind, self.instance


def read_data_message(body: JsonObject) -> DataMessage:
    """Read a Data message: its data may be under its type, under `data`, or next to other keys."""
    type_ = str(body.get("type"))
    kind = text_of(body.get("kind")).strip()
    instance = body.get("_instance")
    default = _INPUT if type_ == "input" and "description" not in body else ""
    return DataMessage(
        data=_data(body, type_=type_),
        schema=body.get("schema", MISSING),
        kind=slugify_kind(kind) if kind else type_,  # `NO_KIND` is the type of most messages
        description=text_of(body.get("description")) or default,
        instance=None if instance is None else one_line(str(instance)),
    )


def slugify_kind(text: str) -> str:
    """Return a valid kind derived from any text."""
    plain = _NOT_IN_KINDS.sub("-", text).strip("-")
    if not plain:
        return NO_KIND
    return (plain if KIND.match(plain) else f"_{plain}")[:64]


def one_line(text: str) -> str:
    """Return the text on one line, so that it can't imitate a heading."""
    line = " ".join(text.split())
    return f"\\{line}" if line.startswith(("## Data:", "_instance:", _SCHEMA)) else line


def merge(
    earlier: "Json | Missing", later: "Json | Missing", *, unite_required: bool = False
) -> "Json | Missing":
    """Return the earlier value, overridden by the later one unless this is missing.

    Objects are merged recursively, and existing keys retain their position. All other values,
    including lists and null, replace the earlier value. With `unite_required` the values are
    schemas: what the earlier one requires stays required.
    """
    if later is MISSING:
        return earlier
    if not isinstance(earlier, Mapping) or not isinstance(later, Mapping):
        return later
    merged: dict[str, Any] = {**earlier, **later}
    for name in later.keys() & earlier.keys():
        merged[name] = merge(earlier[name], later[name], unite_required=unite_required)
    before, after = earlier.get("required"), later.get("required")
    if unite_required and isinstance(before, list) and isinstance(after, list):
        merged["required"] = [*before, *(name for name in after if name not in before)]
    return merged


def fold(messages: Sequence[DataMessage], *, merging: bool = True) -> tuple[DataMessage, ...]:
    """Return one message for every identity, in the order of their first appearance.

    Without `merging`, the model is left to merge them.
    """
    if not merging:
        return tuple(messages)
    groups: dict[tuple[str, str | None], list[DataMessage]] = {}
    for message in messages:
        groups.setdefault(message.identity, []).append(message)
    return tuple(reduce(_merge_messages, group) for group in groups.values())


def render(message: DataMessage) -> str:
    """Return the text that a model sees: heading, data, description, schema."""
    lines = [f"{_HEADING}{message.kind}"]
    if message.instance is not None:
        lines.append(f"{_INSTANCE}{one_line(message.instance)}")
    if message.data is not MISSING:
        lines.append(layout(message.data))
    if description := one_line(message.description):
        lines.append(description)
    if message.schema is not MISSING:
        lines += [f"{_SCHEMA}{message.kind}:", layout(message.schema)]
    return "\n".join(lines)


def split_rendered(text: str) -> tuple[str, str, str]:
    r"""Return the kind, the instance (or "") and the rest of a text that `render` wrote."""
    heading, _, rest = text.partition("\n")
    instance = ""
    if rest.startswith(_INSTANCE):
        instance, _, rest = rest.removeprefix(_INSTANCE).partition("\n")
    return heading.removeprefix(_HEADING), instance, rest


def _data(body: JsonObject, *, type_: str) -> "Json | Missing":
    if type_ == "data" or ("data" in body and type_ not in body):
        return body.get("data", MISSING)
    if type_ in body:
        return body[type_]
    rest = {
        key: value
        for key, value in body.items()
        if key not in _NOT_DATA and not key.startswith("_")
    }
    return rest or MISSING


def _merge_messages(earlier: DataMessage, later: DataMessage) -> DataMessage:
    return replace(
        earlier,
        data=merge(earlier.data, later.data),
        schema=merge(earlier.schema, later.schema, unite_required=True),
        description=later.description if later.description.strip() else earlier.description,
    )
