"""Read HTML: text with the targets of links, tables with empty cells, without navigation."""

from collections.abc import Callable, Iterator, Mapping
import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from copilot_admin.agent.documents.document import DocumentPage, Format
from copilot_admin.agent.documents.text_encodings import decode_html
from copilot_admin.agent.text import SUPERSCRIPTS

MAX_DEPTH = 200
MAX_SPAN = 100
_DROPPED = (
    "script, style, noscript, template, nav, svg, iframe, object, head > :not(title), button, select, "
    "[hidden], [style*='display:none'], [style*='display: none'], [aria-hidden=true], "
    "[role=navigation], [role=menu], [role=banner] nav"
)
_BLOCK = re.compile(
    "address|article|aside|blockquote|body|caption|dd|details|div|dl|dt|fieldset|figcaption|figure"
    "|footer|form|h[1-6r]|header|hgroup|html|legend|li|main|ol|p|section|summary|title|ul"
)
_SPACES = re.compile(r"[ \t\r\n\f\xa0]+")
_BLANK_LINES = re.compile(r" *\n[ \n]*")


def html_to_text(html: str) -> str:
    """Return the text of a page; rows of tables are lines, with " | " between their cells."""
    tree = LexborHTMLParser(html)
    for node in tree.css(_DROPPED):
        node.decompose()
    text = "".join(_pieces(tree.root, 0)) if tree.root is not None else ""
    return _BLANK_LINES.sub("\n", text).strip().replace("\xa0", " ")


def _pieces(node: LexborNode, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        yield _SPACES.sub(" ", node.text(deep=True))
        return
    for child in node.iter(include_text=True):
        tag = child.tag or ""
        if tag == "-text":
            yield _SPACES.sub(" ", child.text_content or "")
        elif _BLOCK.fullmatch(tag):
            yield "\n- " if tag == "li" else "\n"
            yield from _pieces(child, depth + 1)
            yield "\n"
        elif tag in _WRITERS:
            yield _WRITERS[tag](child, depth + 1)
        elif not tag.startswith(("_", "!", "-")):
            yield from _pieces(child, depth + 1)


def _write_link(node: LexborNode, depth: int) -> str:
    text = "".join(_pieces(node, depth))
    target = (node.attributes.get("href") or "").strip()
    if not text.strip() or not target.startswith(("http://", "https://", "mailto:")):
        return text
    return text if target.removeprefix("mailto:") in text else f"{text} ({target})"


def _write_table(table: LexborNode, depth: int) -> str:
    """Return rows as lines; only the first place of a merged cell has its text."""
    lines: list[str] = []
    below: dict[int, int] = {}  # number of further rows of each column that a cell above covers
    for row in _rows(table):
        cells: list[str] = []
        started: dict[int, int] = {}
        for cell in row.iter():
            if cell.tag not in ("td", "th"):
                continue
            while len(cells) in below:
                cells.append("")
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            if height > 1:
                started |= dict.fromkeys(range(len(cells), len(cells) + width), height - 1)
            text = " ".join("".join(_pieces(cell, depth)).split())
            cells += [text, *[""] * (width - 1)]
        cells += [""] * (max(below, default=-1) + 1 - len(cells))
        below = {column: rows - 1 for column, rows in below.items() if rows > 1} | started
        if len(cells) <= 1:  # a caption, or a table for layout
            lines.append("".join(_pieces(row, depth)).strip())
        elif any(cells):
            lines.append(" | ".join(cells))
    return "\n".join(lines)


def _rows(table: LexborNode) -> Iterator[LexborNode]:
    for child in table.iter():
        if child.tag in ("tr", "caption"):
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from (row for row in child.iter() if row.tag == "tr")


def _span(cell: LexborNode, name: str) -> int:
    value = (cell.attributes.get(name) or "1").strip()
    return min(max(int(value), 1), MAX_SPAN) if value.isdigit() else 1


_WRITERS: Mapping[str, Callable[[LexborNode, int], str]] = {
    "a": _write_link,
    "br": lambda _node, _depth: "\n",
    "sup": lambda node, depth: "".join(_pieces(node, depth)).translate(SUPERSCRIPTS),
    # Spaces that can't break stay, and so do tables that are made of them.
    "pre": lambda node, _depth: f"\n{node.text(deep=True)}\n".replace(" ", "\xa0"),
    "img": lambda node, _depth: node.attributes.get("alt") or "",
    "table": lambda node, depth: f"\n{_write_table(node, depth)}\n",
}


def _read(data: bytes) -> Iterator[DocumentPage]:
    text, note = decode_html(data)
    yield DocumentPage(number=1, text=html_to_text(text), note=note)


HTML = Format(
    data_types=("html", "htm", "xhtml"),
    label="HTML file",
    read=_read,
    is_text=True,
)
