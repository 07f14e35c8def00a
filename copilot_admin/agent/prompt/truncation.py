"""Data as text for a model, truncated to the context budget: rows are omitted, with a notice."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
import json
import re
from typing import assert_never

from copilot_admin.agent.documents.registry import format_of
from copilot_admin.agent.files.pictures import IMAGE_TYPES
from protocol.data import MISSING, DataMessage, render
from protocol.json import Json, json_of
from protocol.models import (
    CommandResult,
    DataItem,
    FileReference,
    SourceData,
    SourceError,
    SourceResult,
)

OLD_DATA = "[left out: older data that no longer fits]"
EMPTY = "(nothing: the source returned no data)"
# A shorter beginning of a row is useless. It ends at a separator, so that no number is cut.
MIN_BEGINNING = 100
_SEPARATORS = " ,;\t"
# 200 characters without a blank or a comma aren't natural language but encoded bytes.
_ENCODED = re.compile(r"(data:[\w/+.-]+;base64,)?[A-Za-z0-9+/=_-]{200,}\s*")
_TEXTS = ("text", "html", "snowflake_query", "snowflake_python")


@dataclass(frozen=True, slots=True)
class TruncatedText:
    """Data as text for a model."""

    text: str
    rows: int = 0  # elements of a JSON list, or lines, of the texts that were cut
    left_out: int = 0  # number of them that are missing or incomplete
    begun: int = 0  # number of partial ones


@dataclass(slots=True)
class ContextBudget:
    """Characters of data that still fit, and sentences about this turn's data that did not."""

    left: int
    cuts: list[str] = field(default_factory=list)
    is_this_turn: bool = True

    def spend(self, text: str) -> str:
        """Return a text after deducting it from the budget; older data if nothing is left."""
        if not self.left:
            return OLD_DATA
        self.left = max(self.left - len(text), 0)
        return text

    def truncate_result(self, result: SourceResult, *, source: str) -> str:
        """Return the part of a result that fits, without spending, and note a cut of this turn."""
        truncated = truncate_result(result, limit=self.left)
        if truncated.left_out and self.is_this_turn:
            self.cuts.append(_describe_cut(truncated, source=source))
        return truncated.text


def truncate_result(result: SourceResult, *, limit: int) -> TruncatedText:
    """Return a result as text of about `limit` characters; see `truncate_rows`."""
    match result:
        case SourceData(items):
            return _truncate_items(items, limit=limit)
        case SourceError(error_type, content):
            return TruncatedText(f"(error {error_type}: {content or 'no reason given'})")
        case CommandResult(status, message, data, about):
            values = {**data, **about}
            details = json.dumps(values, ensure_ascii=False) if values else ""
            return TruncatedText(" ".join(filter(None, (f"({status})", message, details))))
    assert_never(result)


def truncate_rows(text: str, *, limit: int) -> TruncatedText:
    """Return the text, or as many of its first rows as fit, with a notice of omissions.

    A JSON list is cut between its elements, other text between its lines. If one row would use most
    of the limit, such as a file of one line, its beginning remains.
    """
    if len(text) <= limit:
        return TruncatedText(text)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    is_list = isinstance(value, list)
    rows: Sequence[object] = value if is_list else text.splitlines()
    kept: list[str] = []
    left, beginning, length = limit, "", 0
    for row in rows:
        line = json.dumps(row, ensure_ascii=False) if is_list else str(row)
        if len(line) >= left:
            beginning = _beginning(line, limit=left - 1) if left > limit // 2 else ""
            length = len(line)
            break
        kept.append(line)
        left -= len(line) + 1
    left_out, begun = len(rows) - len(kept), 1 if beginning else 0
    if begun:
        part = f"the first {len(beginning):,} of {length:,} characters"
        kept += [beginning, f"[only {part} of this row: too much data]"]
    if not begun or left_out > begun:
        kept.append(f"[{left_out - begun} of {len(rows)} rows left out: too much data]")
    return TruncatedText("\n".join(kept), len(rows), left_out, begun)


def _beginning(row: str, *, limit: int) -> str:
    part = row[: max(limit, 0)]
    if len(part) < MIN_BEGINNING:
        return ""
    end = max(part.rfind(sign, len(part) - MIN_BEGINNING // 2) for sign in _SEPARATORS)
    return part if end < 0 else part[: end + 1]


def _truncate_items(items: Iterable[DataItem | FileReference], *, limit: int) -> TruncatedText:
    texts: list[str] = []
    rows = left_out = begun = 0
    for item in items:
        note = describe_artifact(item) if isinstance(item, DataItem) else ""
        part = truncate_rows(item_text(item), limit=max(limit, 0))
        limit -= len(part.text)
        rows, left_out, begun = rows + part.rows, left_out + part.left_out, begun + part.begun
        texts += filter(None, (note if part.text else "", part.text))
    return TruncatedText("\n".join(texts) or EMPTY, rows, left_out, begun)


def _describe_cut(truncated: TruncatedText, *, source: str) -> str:
    kept = f"{truncated.rows - truncated.left_out:,} of {truncated.rows:,} rows"
    if truncated.rows == truncated.begun:
        kept = "only the beginning"
    elif truncated.begun:
        kept += f" and the beginning of {truncated.begun} more"
    return (
        f"Not all data fits: of {source!r} the model is given {kept}. Ask about less to have all "
        "of it."
    )


def truncate_messages(messages: Sequence[DataMessage], limit: int) -> list[tuple[str, str]]:
    """Return Data messages as text within the limit, each with a sentence if it was cut.

    Later ones have priority.
    """
    truncated: list[tuple[str, str]] = []
    for message in reversed(messages):
        text, cut = _truncate_message(message, limit)
        limit = max(limit - len(text), 0)
        truncated.append((text, cut))
    return truncated[::-1]


def _truncate_message(message: DataMessage, limit: int) -> tuple[str, str]:
    """Omit the last rows of the longest list of a message: its data, or a member of it."""
    text = render(message)
    if len(text) <= limit:
        return text, ""
    data = message.data
    lists: dict[str | None, list[Json]] = {None: data} if isinstance(data, list) else {}
    if isinstance(data, Mapping):
        lists = {name: value for name, value in data.items() if isinstance(value, list)}
    name = max(lists, key=lambda one: len(lists[one]), default=None)
    rows = lists.get(name, [])
    where = "" if name is None else f" of {json.dumps(name, ensure_ascii=False)}"

    def first(kept: int) -> tuple[str, str]:
        some: Json = rows[:kept]
        if name is not None and isinstance(data, Mapping):
            some = {**data, name: some}
        notice = f"Showing first {kept} of {len(rows)} rows{where}."
        return _with_notice(replace(message, data=some), notice)

    kept = bisect_right(range(len(rows)), limit, key=lambda kept: len(first(kept)[0])) - 1
    if kept < 1:
        return _with_notice(replace(message, data=MISSING), "The data is left out: too much.")
    return first(kept)


def _with_notice(message: DataMessage, notice: str) -> tuple[str, str]:
    about = message.description or f"{message.kind} {message.instance or ''}".strip()
    description = " ".join(filter(None, (message.description, notice)))
    return render(replace(message, description=description)), (
        f"Not all data fits: {about.removesuffix('.')}. {notice} Ask about less to have all of it."
    )


def item_text(item: DataItem | FileReference) -> str:
    """Return the content of an item, or a note that it can't be read."""
    kind = str(item.data_format.get("data_type") or "file")
    name = str(item.data_format.get("filename") or "without a name")
    if isinstance(item, FileReference):
        return f"[the {kind} {name!r} is only linked; its content is not here]"
    form = format_of(kind)
    is_binary = kind in IMAGE_TYPES or (form is not None and not form.is_text)
    if is_binary or _ENCODED.fullmatch(item.content):
        return f"[the {kind} {name!r}, {len(item.content)} characters encoded; not readable here]"
    return plain_content(item)


def plain_content(item: DataItem) -> str:
    """Return the content; Workspace sends textual artifacts as JSON, which is decoded."""
    is_text = item.data_format.get("parse_as") in _TEXTS  # a client may send a list, too
    if not is_text or not item.content.startswith('"'):
        return item.content
    text = json_of(item.content)
    return text if isinstance(text, str) else item.content


def describe_artifact(item: DataItem) -> str:
    """Describe an artifact beyond its content: its chart parameters, or the source of its query.

    Source: the data format of generation 3. A chart has `chart_params`, a Snowflake query its
    `query_data_source`.
    """
    form = item.data_format
    match form.get("parse_as"):
        case "chart":
            label, how, details = "a chart", ", drawn with", form.get("chart_params")
        case "snowflake_query":
            label, how = "a Snowflake query", ", asked of"
            details = form.get("query_data_source")
        case "snowflake_python":
            return "[Python code for Snowflake]"
        case _:
            return ""
    return f"[{label}{how} {json.dumps(details, ensure_ascii=False)}]" if details else f"[{label}]"
