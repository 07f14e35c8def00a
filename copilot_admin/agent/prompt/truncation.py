"""Truncation of data to the context budget: complete rows are omitted, with a notice."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
import json
from typing import assert_never

from copilot_admin.agent.prompt.data_items import describe_artifact, item_text
from protocol.data import MISSING, DataMessage, render
from protocol.json import Json
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


@dataclass(frozen=True, slots=True)
class TruncatedText:
    """Data as text for a model.

    Attributes:
        rows: Elements of a JSON list, or lines, of the texts that were cut.
        left_out: Number of them that are missing or incomplete.
        begun: Number of partial ones.
    """

    text: str
    rows: int = 0
    left_out: int = 0
    begun: int = 0


@dataclass(frozen=True, slots=True)
class TruncatedMessage:
    """A Data message as text, and a sentence for the user if it was cut."""

    text: str
    cut: str = ""


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
    elements = _list_elements(text)
    rows: Sequence[object] = text.splitlines() if elements is None else elements
    kept: list[str] = []
    left, beginning, length = limit, "", 0
    for row in rows:
        line = str(row) if elements is None else json.dumps(row, ensure_ascii=False)
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


def truncate_messages(messages: Sequence[DataMessage], limit: int) -> list[TruncatedMessage]:
    """Return Data messages as text within the limit; later ones have priority."""
    truncated: list[TruncatedMessage] = []
    for message in reversed(messages):
        one = _truncate_message(message, limit)
        limit = max(limit - len(one.text), 0)
        truncated.append(one)
    return truncated[::-1]


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
    if truncated.begun:
        is_all = truncated.rows == truncated.begun
        begun = f"{kept} and the beginning of {truncated.begun} more"
        kept = "only the beginning" if is_all else begun
    return (
        f"Not all data fits: of {source!r} the model is given {kept}. Ask about less to have all "
        "of it."
    )


def _beginning(row: str, *, limit: int) -> str:
    part = row[: max(limit, 0)]
    if len(part) < MIN_BEGINNING:
        return ""
    end = max(part.rfind(sign, len(part) - MIN_BEGINNING // 2) for sign in _SEPARATORS)
    return part if end < 0 else part[: end + 1]


def _list_elements(text: str) -> list[object] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def _truncate_message(message: DataMessage, limit: int) -> TruncatedMessage:
    """Omit the last rows of the longest list of a message: its data, or a member of it."""
    text = render(message)
    if len(text) <= limit:
        return TruncatedMessage(text)
    data = message.data
    lists: dict[str | None, list[Json]] = {None: data} if isinstance(data, list) else {}
    if isinstance(data, Mapping):
        lists = {name: value for name, value in data.items() if isinstance(value, list)}
    if not lists:
        return _without_data(message)
    name = max(lists, key=lambda one: len(lists[one]))
    rows = lists[name]
    where = "" if name is None else f" of {json.dumps(name, ensure_ascii=False)}"

    def notice(kept: int) -> str:
        return f"Showing first {kept} of {len(rows)} rows{where}."

    def render_first(kept: int) -> str:
        some: Json = rows[:kept]
        if name is not None and isinstance(data, Mapping):
            some = {**data, name: some}
        return render(_add_notice(replace(message, data=some), notice(kept)))

    kept = bisect_right(range(len(rows)), limit, key=lambda kept: len(render_first(kept))) - 1
    if kept < 1:
        return _without_data(message)
    return TruncatedMessage(render_first(kept), _describe_message_cut(message, notice(kept)))


def _without_data(message: DataMessage) -> TruncatedMessage:
    notice = "The data is left out: too much."
    text = render(_add_notice(replace(message, data=MISSING), notice))
    return TruncatedMessage(text, _describe_message_cut(message, notice))


def _describe_message_cut(message: DataMessage, notice: str) -> str:
    about = message.description or f"{message.kind} {message.instance or ''}".strip()
    return (
        f"Not all data fits: {about.removesuffix('.')}. {notice} Ask about less to have all of it."
    )


def _add_notice(message: DataMessage, notice: str) -> DataMessage:
    about = " ".join(filter(None, (message.description, notice)))
    return replace(message, description=about)
