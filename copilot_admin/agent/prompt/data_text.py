"""Data as text for the model, within limits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
import json
import re
from typing import assert_never

from copilot_admin.agent.documents.registry import format_of
from copilot_admin.agent.files.pictures import IMAGE_TYPES
from copilot_admin.agent.prompt.item_forms import form_note, plain_content
from copilot_admin.agent.prompt.rows import first_rows
from protocol.data import MISSING, DataMessage, render
from protocol.json import Json
from protocol.json_layout import count_fitting
from protocol.models import (
    CommandResult,
    DataItem,
    FileReference,
    SourceData,
    SourceError,
    SourceResult,
)

# 200 characters without a blank or a comma are no text of any language but encoded bytes.
_ENCODED = re.compile(r"(data:[\w/+.-]+;base64,)?[A-Za-z0-9+/=_-]{200,}\s*")
EMPTY = "(nothing: the source returned no data)"


@dataclass(frozen=True, slots=True)
class ToldData:
    """Data as text for a model.

    Attributes:
        rows: Of what had to be cut: elements of a JSON list, lines of any other text.
        left_out: How many of them are not in the text, or not as a whole.
        begun: How many are there in part.
    """

    text: str
    rows: int = 0
    left_out: int = 0
    begun: int = 0


def told_of(result: SourceResult, *, limit: int) -> ToldData:
    """The result as text of at most about `limit` characters.

    Only whole rows are left out, unless one of them would take most of the room: of that the
    beginning is told.
    """
    match result:
        case SourceData(items):
            return _joined(items, limit=limit)
        case SourceError(error_type, content):
            return ToldData(f"(error {error_type}: {content or 'no reason given'})")
        case CommandResult(status, message, data, about):
            said = {**data, **about}
            details = json.dumps(said, ensure_ascii=False) if said else ""
            return ToldData(" ".join(filter(None, (f"({status})", message, details))))
    assert_never(result)


def shortened(text: str, *, limit: int) -> str:
    """The text, or as many of its first rows as fit, with a notice of what was left out.

    A JSON list is cut between its elements, other text between its lines; what has few long ones,
    such as a file of one line, within one.
    """
    return _cut(text, limit=limit).text


def _cut(text: str, *, limit: int) -> ToldData:
    if len(text) <= limit:
        return ToldData(text)
    rows = first_rows(text, limit=limit)
    left_out, begun = rows.number - len(rows.texts), 1 if rows.beginning else 0
    told = list(rows.texts)
    if begun:
        part = f"the first {len(rows.beginning):,} of {rows.length:,} characters"
        told += [rows.beginning, f"[only {part} of this row: too much data]"]
    if not begun or left_out > begun:
        told.append(f"[{left_out - begun} of {rows.number} rows left out: too much data]")
    return ToldData("\n".join(told), rows.number, left_out, begun)


def _joined(items: Iterable[DataItem | FileReference], *, limit: int) -> ToldData:
    texts: list[str] = []
    rows = left_out = begun = 0
    for item in items:
        note = form_note(item) if isinstance(item, DataItem) else ""
        told = _cut(item_text(item), limit=max(limit, 0))
        limit -= len(told.text)
        rows, left_out = rows + told.rows, left_out + told.left_out
        begun += told.begun
        texts += filter(None, (note if told.text else "", told.text))
    return ToldData("\n".join(texts) or EMPTY, rows, left_out, begun)


def item_text(item: DataItem | FileReference) -> str:
    """The content of an item, or a note of what cannot be read."""
    kind = str(item.data_format.get("data_type") or "file")
    name = str(item.data_format.get("filename") or "without a name")
    if isinstance(item, FileReference):
        return f"[the {kind} {name!r} is only linked; its content is not here]"
    if _is_binary(kind) or _ENCODED.fullmatch(item.content):
        return f"[the {kind} {name!r}, {len(item.content)} characters encoded; not readable here]"
    return plain_content(item)


def _is_binary(kind: str) -> bool:
    form = format_of(kind)
    return kind in IMAGE_TYPES or (form is not None and not form.is_text)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A Data message as text, and a sentence for the user where not all of it fits."""

    text: str
    cut: str = ""


def within(messages: Sequence[DataMessage], limit: int) -> list[Fitted]:
    """The texts, cut to the limit; the latest messages keep most."""
    fitted: list[Fitted] = []
    for message in reversed(messages):
        one = _fitted(message, limit)
        limit = max(limit - len(one.text), 0)
        fitted.append(one)
    return fitted[::-1]


@dataclass(frozen=True, slots=True)
class _Rows:
    """The longest list of a message: its data, or a member of it."""

    message: DataMessage
    name: str | None
    rows: Sequence[Json]

    def notice(self, kept: int) -> str:
        """Says how many rows are shown."""
        where = "" if self.name is None else f" of {json.dumps(self.name, ensure_ascii=False)}"
        return f"Showing first {kept} of {len(self.rows)} rows{where}."

    def only(self, kept: int) -> DataMessage:
        """The Data message with its first rows only."""
        rows, data = list(self.rows[:kept]), self.message.data
        if self.name is not None and isinstance(data, Mapping):
            return replace(self.message, data={**data, self.name: rows})
        return replace(self.message, data=rows)


def _fitted(message: DataMessage, limit: int) -> Fitted:
    found = _longest_list(message)
    if found is None:
        text = render(message)
        return Fitted(text) if len(text) <= limit else _without_data(message)
    count = len(found.rows)
    if count_fitting(found.rows, limit=limit - len(render(found.only(0)))) == count:
        text = render(message)
        if len(text) <= limit:
            return Fitted(text)
    frame = render(_noted(found.only(0), found.notice(count)))  # with the longest notice there is
    kept = count_fitting(found.rows, limit=limit - len(frame))
    while kept:
        notice = found.notice(kept)
        text = render(_noted(found.only(kept), notice))
        if len(text) <= limit:
            return Fitted(text, _cut_sentence(message, notice))
        kept = min(kept - 1, kept * limit // len(text))  # members of objects are indented further
    return _without_data(message)


def _longest_list(message: DataMessage) -> _Rows | None:
    data = message.data
    if isinstance(data, list):
        return _Rows(message, None, data)
    members = data.items() if isinstance(data, Mapping) else ()
    lists = [_Rows(message, name, value) for name, value in members if isinstance(value, list)]
    return max(lists, key=lambda one: len(one.rows), default=None)


def _without_data(message: DataMessage) -> Fitted:
    notice = "The data is left out: too much."
    text = render(_noted(replace(message, data=MISSING), notice))
    return Fitted(text, _cut_sentence(message, notice))


def _cut_sentence(message: DataMessage, notice: str) -> str:
    about = message.description or f"{message.kind} {message.instance or ''}".strip()
    return (
        f"Not all data fits: {about.removesuffix('.')}. {notice} Ask about less to have all of it."
    )


def _noted(message: DataMessage, notice: str) -> DataMessage:
    about = " ".join(filter(None, (message.description, notice)))
    return replace(message, description=about)
