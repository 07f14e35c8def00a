"""Tables, HTML and sources as text, for clients that display only text."""

from collections.abc import Iterable, Mapping, Sequence
from html import unescape
import re

from protocol.json import Json, JsonObject, text_of

# Rows with disjoint keys make a table of quadratic size.
MAX_CELLS = 50_000
_BLANK = re.compile(r"[\r\n]+")
# A script or style without an end tag extends to the end of the text.
_UNSEEN = re.compile(r"<(script|style)\b.*?(?:</\1[^>]*>|\Z)", re.IGNORECASE | re.DOTALL)
_BLOCK_END = re.compile(
    r"<(?:br|hr)\b[^<>]*>|</(?:p|div|li|tr|h[1-6]|ul|ol|table|section|article|blockquote|pre)\s*>",
    re.IGNORECASE,
)
_ENDLESS_NUMBER = re.compile(r"&#[0-9]{20,}+;?")  # no character has such a long number
_CELL_END = re.compile(r"</t[dh]\s*>", re.IGNORECASE)
_COMMENT_OR_TAG = re.compile(r"</?[a-zA-Z!][^<>]*>")
# An image in Markdown is a link after "!". Possessive matching scans a run of them in one pass.
_IMAGE_MARK = re.compile(r"(?<!!)!++(?=\[)")
_TAG_MARK = re.compile(r"<(?=[a-zA-Z/!?])")
_SPACES = re.compile(r"[ \t\xa0]+")
_EMPTY_LINES = re.compile(r"\n{3,}")


def markdown_table(rows: Sequence[JsonObject]) -> str:
    """Return a Markdown table of all columns in the order in which the rows first name them.

    A table with too many cells is truncated, and a last line reports the number of omitted rows.
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if not columns:
        return ""
    shown = rows[: max(MAX_CELLS // len(columns), 1)]
    lines = [
        _line(columns),
        _line("---" for _ in columns),
        *(_line(_cell(row.get(name)) for name in columns) for row in shown),
    ]
    if len(shown) < len(rows):
        lines += ["", f"{len(rows) - len(shown)} more rows are left out: the table is too large."]
    return "\n".join(lines)


def html_text(html: str) -> str:
    """Return the text that a browser would display for a piece of HTML."""
    text = _BLOCK_END.sub("\n", _UNSEEN.sub("", html))
    text = _COMMENT_OR_TAG.sub("", _CELL_END.sub("\t", text))
    text = unescape(_ENDLESS_NUMBER.sub("\ufffd", text))
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip()


def sources_line(sources: Iterable[JsonObject]) -> str:
    """Return one line that names each cited source, or an empty text."""
    names = ", ".join(dict.fromkeys(map(_source_name, sources)))
    return f"Sources: {names}" if names else ""


def inert(text: str) -> str:
    """Return the text without anything that a Markdown viewer would load automatically.

    Cells, the text of HTML and names of sources are not Markdown, but may contain its syntax.
    """
    return _TAG_MARK.sub("< ", _IMAGE_MARK.sub("", text))


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_BLANK.sub(" ", cell).replace("|", "\\|") for cell in cells) + " |"


def _cell(value: Json) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case Mapping():
            return ", ".join(f"{name}: {_shallow(member)}" for name, member in value.items())
        case list() | tuple():
            return ", ".join(map(_shallow, value))
    return str(value)


def _shallow(value: Json) -> str:
    return "…" if isinstance(value, Mapping | list | tuple) else _cell(value)


def _source_name(source: JsonObject) -> str:
    candidates = (text_of(source.get(key)) for key in ("name", "widget_id", "origin", "type"))
    return next(filter(None, candidates), "source")
