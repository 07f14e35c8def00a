"""Say tables, HTML and sources as text, for clients that show nothing else."""

from collections.abc import Iterable, Mapping, Sequence
from html import unescape
import re

from protocol.json import Json, JsonObject

# Rows of which each has keys of its own make a table that is the square of them. So many cells take
# about 50 ms, and are more than anybody reads.
MOST_CELLS = 50_000
_BLANK = re.compile(r"[\r\n]+")
_UNSEEN = re.compile(r"<(script|style)\b", re.IGNORECASE)
_BLOCK_END = re.compile(
    r"<(?:br|hr)\b[^<>]*>|</(?:p|div|li|tr|h[1-6]|ul|ol|table|section|article|blockquote|pre)\s*>",
    re.IGNORECASE,
)
_ENDLESS_NUMBER = re.compile(r"&#[0-9]{20,}+;?")  # no character has so long a number
_CELL_END = re.compile(r"</t[dh]\s*>", re.IGNORECASE)
_COMMENT_OR_TAG = re.compile(r"</?[a-zA-Z!][^<>]*>")
# An image of Markdown is a link with a mark before it; a run of them is looked at once.
_IMAGE_MARK = re.compile(r"(?<!!)!++(?=\[)")
_TAG_MARK = re.compile(r"<(?=[a-zA-Z/!?])")
_SPACES = re.compile(r"[ \t\xa0]+")
_EMPTY_LINES = re.compile(r"\n{3,}")


def markdown_table(rows: Sequence[JsonObject]) -> str:
    """A Markdown table of all columns in the order in which the rows first name them.

    Of a table with too many cells the first rows stay, and a line says how many are left out.
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if not columns:
        return ""
    shown = rows[: max(MOST_CELLS // len(columns), 1)]
    lines = [
        _line(columns),
        _line("---" for _ in columns),
        *(_line(_cell(row.get(name)) for name in columns) for row in shown),
    ]
    if len(shown) < len(rows):
        lines += ["", f"{len(rows) - len(shown)} more rows are left out: the table is too large."]
    return "\n".join(lines)


def html_text(html: str) -> str:
    """The text that a browser would show of a piece of HTML."""
    text = _BLOCK_END.sub("\n", _without_unseen(html))
    text = _COMMENT_OR_TAG.sub("", _CELL_END.sub("\t", text))
    text = unescape(_ENDLESS_NUMBER.sub("\ufffd", text))
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip()


def sources_line(sources: Iterable[JsonObject]) -> str:
    """One line that names each cited source once."""
    names = dict.fromkeys(_source_name(source) for source in sources)
    return "Sources: " + ", ".join(names)


def inert(text: str) -> str:
    """The text with nothing in it that a client would load by itself, where it is read as Markdown.

    What stands in a cell, in the text of HTML or in the name of a source was written for no such reader.

    Examples:
        >>> inert("![a](https://a.example) <img src=x> a < b!")
        '[a](https://a.example) < img src=x> a < b!'
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
        case str() | int() | float():
            return str(value)
    return ", ".join(_shallow(element) for element in value)


def _shallow(value: Json) -> str:
    return "…" if isinstance(value, Mapping | list | tuple) else _cell(value)


def _without_unseen(html: str) -> str:
    """Leave out scripts and styles; one that is never closed takes the rest with it."""
    lower = html.lower() if html.isascii() else None
    shown, start = [], 0
    while opening := _UNSEEN.search(html, start):
        shown.append(html[start : opening.start()])
        closing = f"</{opening[1].lower()}"
        end = (lower or html).find(closing, opening.end())
        start = html.find(">", end) + 1 if end >= 0 else 0
        if not start:
            return "".join(shown)
    return "".join([*shown, html[start:]])


def _source_name(source: JsonObject) -> str:
    candidates = (source.get(key) for key in ("name", "widget_id", "origin", "type"))
    return next((text for text in candidates if isinstance(text, str) and text), "source")
