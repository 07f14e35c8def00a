"""Says what a client returned as text for a model."""

from collections.abc import Iterable
from dataclasses import dataclass
import json
import re
from typing import assert_never

from copilot_admin.agent.documents.registry import format_of
from copilot_admin.agent.files.pictures import IMAGE_TYPES
from copilot_admin.agent.prompt.item_forms import form_note, plain_content
from copilot_admin.agent.prompt.rows import first_rows
from protocol.messages import (
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
