"""Read Word documents (docx): paragraphs, numbers, tables, notes, text boxes, comments, equations."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any
import zipfile

from copilot_admin.agent.documents.document import DocumentPage, Format, UnreadableFile
from copilot_admin.agent.documents.office import check_unlocked, open_archive, read_xml
from copilot_admin.agent.documents.word_numbering import Numbering

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
# Elements without text of the document: formats, deletions, field codes, fallbacks.
_SKIPPED = frozenset(
    {f"{_W}{name}" for name in ("pPr", "rPr", "del", "moveFrom", "instrText", "delText", "rt")}
    | {f"{_MC}Fallback"}
)
_CHANGES = (f"{_W}ins", f"{_W}del", f"{_W}moveFrom", f"{_W}moveTo")
_TRACKED_NOTE = "[tracked changes were read as accepted]"
_SPECIAL_NOTES = frozenset({"separator", "continuationSeparator", "continuationNotice"})


def _read(data: bytes) -> Iterator[DocumentPage]:
    check_unlocked(data)
    with open_archive(data) as archive:
        yield _Document(archive).read()


class _Document:
    """A package with its main part and the parts that it refers to."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._main = _find_main_part(archive)
        root = read_xml(archive, self._main)
        body = root.find(f"{_W}body") if root is not None else None
        if body is None:
            raise ValueError("no Word document")
        self._body = body
        self._folder = self._main.rpartition("/")[0]
        self._numbering = Numbering(self._part("numbering.xml"), self._part("styles.xml"))
        self._links = self._read_links()
        self._boxes: list[str] = []  # texts of boxes anchored in the current paragraph

    def read(self) -> DocumentPage:
        body = list(self._blocks(self._body))
        parts = [
            *self._headers_and_footers("header"),
            *body,
            *self._notes("footnote"),
            *self._notes("endnote"),
            *self._comments(),
            *self._headers_and_footers("footer"),
        ]
        has_changes = next(self._body.iter(*_CHANGES), None) is not None
        text = "\n".join(part for part in parts if part.strip())
        return DocumentPage(number=1, text=text, note=_TRACKED_NOTE if has_changes else "")

    def _part(self, name: str) -> Any:
        return read_xml(self._archive, f"{self._folder}/{name}" if self._folder else name)

    def _read_links(self) -> dict[str, str]:
        name = self._main.rpartition("/")[2]
        root = self._part(f"_rels/{name}.rels")
        if root is None:
            return {}
        return {
            one.get("Id", ""): one.get("Target", "")
            for one in root
            if one.get("TargetMode") == "External"
        }

    def _blocks(self, element: Any) -> Iterator[str]:
        for one in element.iterchildren():
            if one.tag == f"{_W}p":
                yield self._paragraph(one)
                yield from self._take_boxes()
            elif one.tag == f"{_W}tbl":
                yield "\n".join(self._table(one))
            elif one.tag == f"{_M}oMathPara":
                yield self._inline(one)
            elif one.tag not in _SKIPPED and one.tag != f"{_W}sectPr":
                yield from self._blocks(one)  # content controls, insertions, custom XML

    def _take_boxes(self) -> Iterator[str]:
        boxes, self._boxes = self._boxes, []
        yield from (f"[text box]\n{one}" for one in boxes if one.strip())

    def _paragraph(self, paragraph: Any) -> str:
        number = self._numbering.next_number(paragraph)
        text = self._inline(paragraph)
        return f"{number} {text}" if number and text.strip() else text

    def _inline(self, element: Any) -> str:
        return "".join(self._pieces(element))

    def _pieces(self, element: Any) -> Iterator[str]:
        for one in element.iterchildren():
            tag = one.tag
            if tag in _WRITERS:
                yield _WRITERS[tag](one)
            elif tag == f"{_W}txbxContent":
                text = "\n".join(filter(None, self._blocks(one)))  # boxes can be nested
                self._boxes.append(text)
            elif tag == f"{_W}hyperlink":
                yield self._link(one)
            elif tag not in _SKIPPED and isinstance(tag, str):
                yield from self._pieces(one)

    def _link(self, element: Any) -> str:
        text, target = self._inline(element), self._links.get(element.get(f"{_R}id", ""), "")
        return f"{text} ({target})" if target and target not in text else text

    def _table(self, table: Any) -> Iterator[str]:
        """Yield rows; a merged cell has text only in its first place, the others are empty."""
        for row in _inside(table, f"{_W}tr"):
            cells: list[str] = [""] * _number_in(row, "trPr/gridBefore", default=0)
            for cell in _inside(row, f"{_W}tc"):
                merge = cell.find(f"{_W}tcPr/{_W}vMerge")
                is_continued = merge is not None and merge.get(f"{_W}val") != "restart"
                text = "" if is_continued else " ".join(filter(None, self._blocks(cell)))
                span = _number_in(cell, "tcPr/gridSpan", default=1)
                cells += [text.strip(), *[""] * (span - 1)]
            yield " | ".join(cells)

    def _notes(self, kind: str) -> Iterator[str]:
        root = self._part(f"{kind}s.xml")
        for one in root if root is not None else ():
            if one.get(f"{_W}type") in _SPECIAL_NOTES:
                continue
            mark, text = one.get(f"{_W}id", ""), self._flat(one)
            yield f"[{'e' if kind == 'endnote' else ''}{mark}] {text}" if text else ""

    def _flat(self, element: Any) -> str:
        return " ".join(filter(None, (part.strip() for part in self._blocks(element))))

    def _comments(self) -> Iterator[str]:
        root = self._part("comments.xml")
        for one in root if root is not None else ():
            text = self._flat(one)
            author = one.get(f"{_W}author") or "unknown"
            yield f"[comment by {author}: {text}]" if text else ""

    def _headers_and_footers(self, kind: str) -> Iterator[str]:
        """Yield the distinct texts; sections often repeat the header before them."""
        prefix = f"{self._folder}/{kind}" if self._folder else kind
        names = sorted(name for name in self._archive.namelist() if name.startswith(prefix))
        texts: dict[str, None] = {}
        for name in names:
            root = read_xml(self._archive, name)
            if root is not None:
                text = "\n".join(filter(str.strip, self._blocks(root)))
                texts[text] = None
        yield from (f"[{kind}] {text}" for text in texts if text.strip())


def _write_symbol(element: Any) -> str:
    """Return the sign of a symbol font; its codes are in an area without letters."""
    code = int(element.get(f"{_W}char", "0"), 16)
    return chr(code) if 32 <= code < 0xE000 else "\u2022"


def _write_equation(element: Any) -> str:
    """Return an equation of Office (OMML) as a line of text, such as "(a+b)/(c)"."""
    return "".join(map(_write_part, element.iterchildren()))


def _write_part(element: Any) -> str:
    def part(name: str) -> str:
        found = element.find(f"{_M}{name}")
        return _write_equation(found) if found is not None else ""

    def group(name: str, sign: str) -> str:
        text = part(name)
        return f"{sign}{text}" if len(text) == 1 else f"{sign}({text})" if text else ""

    name = str(element.tag).removeprefix(_M)
    match name:
        case "t":
            return element.text or ""
        case "f":
            return f"({part('num')})/({part('den')})"
        case "sSup" | "sSub" | "sSubSup":
            return part("e") + group("sub", "_") + group("sup", "^")
        case "rad":
            degree = part("deg")
            return f"root({degree}, {part('e')})" if degree else f"sqrt({part('e')})"
        case "nary":
            sign = element.find(f"{_M}naryPr/{_M}chr")
            symbol = sign.get(f"{_M}val") if sign is not None else "\u222b"
            return f"{symbol}{group('sub', '_')}{group('sup', '^')} {part('e')}"
        case "d":
            return f"({_write_equation(element)})"
        case _ if name.endswith("Pr"):
            return ""
    return _write_equation(element)


_WRITERS: Mapping[str, Callable[[Any], str]] = {
    f"{_W}t": lambda one: one.text or "",
    f"{_W}tab": lambda _one: "\t",
    f"{_W}ptab": lambda _one: "\t",
    f"{_W}br": lambda _one: "\n",
    f"{_W}cr": lambda _one: "\n",
    f"{_W}noBreakHyphen": lambda _one: "-",
    f"{_W}sym": _write_symbol,
    f"{_W}footnoteReference": lambda one: f"[{one.get(f'{_W}id')}]",
    f"{_W}endnoteReference": lambda one: f"[e{one.get(f'{_W}id')}]",
    f"{_M}oMath": _write_equation,
    f"{_M}oMathPara": _write_equation,
}


def _find_main_part(archive: zipfile.ZipFile) -> str:
    """Return the name of the document part, which is not fixed.

    Raises:
        ValueError: The part is missing.
        UnreadableFile: It is a Word document with another main part, such as a template of macros.
    """
    root = read_xml(archive, "_rels/.rels")
    for one in root if root is not None else ():
        if str(one.get("Type", "")).endswith("/officeDocument"):
            target: str = one.get("Target", "").lstrip("/")
            if target in archive.namelist():
                return target
    raise UnreadableFile("It is no Word document, or it is damaged. Save it again as .docx.")


def _inside(element: Any, tag: str) -> Iterator[Any]:
    for one in element.iterchildren():
        if one.tag == tag:
            yield one
        elif one.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}customXml", f"{_W}ins"):
            yield from _inside(one, tag)


def _number_in(element: Any, path: str, *, default: int) -> int:
    found = element.find("/".join(f"{_W}{name}" for name in path.split("/")))
    value = found.get(f"{_W}val", "") if found is not None else ""
    return min(int(value), 100) if value.isdigit() else default


WORD = Format(
    data_types=("docx", "docm", "dotx"),
    label="Word document",
    read=_read,
)
