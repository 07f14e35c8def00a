"""Says what a client returned as text for a model."""

from collections.abc import Iterable, Sequence
import json
import re
from typing import assert_never

from copilot_admin.engine.documents.registry import format_of
from copilot_admin.engine.files.pictures import IMAGE_TYPES
from copilot_admin.engine.prompt.item_forms import form_note, plain_content
from protocol.json import Json
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


def result_text(result: SourceResult, *, limit: int) -> str:
    """The result as text of at most about `limit` characters; only whole rows are left out."""
    match result:
        case SourceData(items):
            return _join(items, limit=limit) or EMPTY
        case SourceError(error_type, content):
            return f"(error {error_type}: {content or 'no reason given'})"
        case CommandResult(status, message, data, about):
            said = {**data, **about}
            details = json.dumps(said, ensure_ascii=False) if said else ""
            return " ".join(filter(None, (f"({status})", message, details)))
    assert_never(result)


def shortened(text: str, *, limit: int) -> str:
    """The text, or as many of its first rows as fit, with a notice of what was left out.

    A JSON list is cut between its elements, other text between its lines.
    """
    if len(text) <= limit:
        return text
    rows = _rows(text)
    kept = list(_fitting(rows, limit=limit))
    notice = f"[{len(rows) - len(kept)} of {len(rows)} rows left out: too much data]"
    return "\n".join((*kept, notice))


def _join(items: Iterable[DataItem | FileReference], *, limit: int) -> str:
    texts: list[str] = []
    for item in items:
        note = form_note(item) if isinstance(item, DataItem) else ""
        text = shortened(item_text(item), limit=max(limit, 0))
        limit -= len(text)
        texts += filter(None, (note if text else "", text))
    return "\n".join(texts)


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


def _rows(text: str) -> Sequence[str]:
    value = _parsed(text)
    if isinstance(value, list):
        return [json.dumps(row, ensure_ascii=False) for row in value]
    return text.splitlines()


def _parsed(text: str) -> Json:
    if not text.lstrip().startswith("["):
        return None
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _fitting(rows: Sequence[str], *, limit: int) -> Iterable[str]:
    for row in rows:
        limit -= len(row) + 1
        if limit < 0:
            return
        yield row
