"""Read Word documents (docx): paragraphs, numbers, tables, notes, text boxes, comments, equations."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any
import zipfile

from copilot_admin.agent.documents.document import DocumentPage, Format, UnreadableFile
from copilot_admin.agent.documents.office import (
    W,
    describe_unread_parts,
    open_archive,
    read_xml,
    value_in,
)
from copilot_admin.agent.documents.word_numbering import Numbering
from copilot_admin.agent.text import SUPERSCRIPTS

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
# Elements without text of the document: formats, deletions, field codes, fallbacks.
_SKIPPED = frozenset(
    {f"{W}{name}" for name in ("pPr", "rPr", "del", "moveFrom", "instrText", "delText", "rt")}
    | {f"{_MC}Fallback"}
)
_CHANGES = (f"{W}ins", f"{W}del", f"{W}moveFrom", f"{W}moveTo")
_SPECIAL_NOTES = frozenset({"separator", "continuationSeparator", "continuationNotice"})


def _read(data: bytes) -> Iterator[DocumentPage]:
    with open_archive(data) as archive:
        yield _Document(archive).read()


class _Document:
    """A package with its main part and the parts that it refers to."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        main = _find_main_part(archive)
        self._folder = main[: main.rfind("/") + 1]
        self._body = _read_part(archive, main).find(f"{W}body")
        self._numbering = Numbering(self._part("numbering.xml"), self._part("styles.xml"))
        relations = self._part(f"_rels/{main.removeprefix(self._folder)}.rels")
        self._links = {
            one.get("Id", ""): one.get("Target", "")
            for one in relations
            if one.get("TargetMode") == "External"
        }
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
        notes = ["tracked changes were read as accepted"] if has_changes else []
        notes += describe_unread_parts(self._archive)
        return DocumentPage(number=1, text=text, note=f"[{'; '.join(notes)}]" if notes else "")

    def _part(self, name: str) -> Any:
        return _read_part(self._archive, self._folder + name)

    def _blocks(self, element: Any) -> Iterator[str]:
        for one in element.iterchildren():
            if one.tag == f"{W}p":
                number, text = self._numbering.next_number(one), self._inline(one)
                yield f"{number} {text}" if number and text.strip() else text
                boxes, self._boxes = self._boxes, []
                yield from (f"[text box]\n{box}" for box in boxes if box.strip())
            elif one.tag == f"{W}tbl":
                yield "\n".join(self._table(one))
            elif one.tag == f"{_M}oMathPara":
                yield self._inline(one)
            elif one.tag not in _SKIPPED and one.tag != f"{W}sectPr":
                yield from self._blocks(one)  # content controls, insertions, custom XML

    def _inline(self, element: Any) -> str:
        return "".join(self._pieces(element))

    def _pieces(self, element: Any) -> Iterator[str]:
        for one in element.iterchildren():
            tag = one.tag
            if tag in _WRITERS:
                yield _WRITERS[tag](one)
            elif tag == f"{W}txbxContent":
                text = "\n".join(filter(None, self._blocks(one)))  # boxes can be nested
                self._boxes.append(text)
            elif tag == f"{W}hyperlink":
                link, target = self._inline(one), self._links.get(one.get(f"{_R}id", ""), "")
                yield f"{link} ({target})" if target and target not in link else link
            elif tag not in _SKIPPED and isinstance(tag, str):
                yield from self._pieces(one)

    def _table(self, table: Any) -> Iterator[str]:
        """Yield rows; a merged cell has text only in its first place, the others are empty."""
        for row in _inside(table, f"{W}tr"):
            if row.find(f"{W}trPr/{W}del") is not None:
                continue
            cells: list[str] = [""] * int(value_in(row, "trPr/gridBefore") or 0)
            for cell in _inside(row, f"{W}tc"):
                merge = cell.find(f"{W}tcPr/{W}vMerge")
                is_continued = merge is not None and merge.get(f"{W}val") != "restart"
                text = "" if is_continued else " ".join(filter(None, self._blocks(cell)))
                span = int(value_in(cell, "tcPr/gridSpan") or 1)
                cells += [text.strip(), *[""] * (span - 1)]
            yield " | ".join(cells)

    def _notes(self, kind: str) -> Iterator[str]:
        for one in self._part(f"{kind}s.xml"):
            text = self._flat(one)
            if text and one.get(f"{W}type") not in _SPECIAL_NOTES:
                mark = one.get(f"{W}id", "")
                yield f"[{'e' if kind == 'endnote' else ''}{mark}] {text}"

    def _comments(self) -> Iterator[str]:
        for one in self._part("comments.xml"):
            if text := self._flat(one):
                yield f"[comment by {one.get(f'{W}author') or 'unknown'}: {text}]"

    def _flat(self, element: Any) -> str:
        return " ".join(filter(None, (part.strip() for part in self._blocks(element))))

    def _headers_and_footers(self, kind: str) -> Iterator[str]:
        """Yield the distinct texts; sections often repeat the header before them."""
        names = sorted(self._archive.namelist())
        parts = [
            _read_part(self._archive, one) for one in names if one.startswith(self._folder + kind)
        ]
        texts = ("\n".join(filter(str.strip, self._blocks(part))) for part in parts)
        yield from (f"[{kind}] {text}" for text in dict.fromkeys(texts) if text)


def _read_part(archive: zipfile.ZipFile, name: str) -> Any:
    """Return the root of a part in which the digits of superscripts are such characters."""
    root = read_xml(archive, name)
    for one in root.iter(f"{W}vertAlign"):
        if one.get(f"{W}val") == "superscript":
            for text in one.getparent().getparent().iterchildren(f"{W}t"):
                text.text = (text.text or "").translate(SUPERSCRIPTS)
    return root


def _write_symbol(element: Any) -> str:
    """Return the sign of a symbol font; its codes are in an area without letters."""
    code = int(element.get(f"{W}char", "0"), 16)
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
    f"{W}t": lambda one: one.text or "",
    f"{W}tab": lambda _one: "\t",
    f"{W}ptab": lambda _one: "\t",
    f"{W}br": lambda _one: "\n",
    f"{W}cr": lambda _one: "\n",
    f"{W}noBreakHyphen": lambda _one: "-",
    f"{W}sym": _write_symbol,
    f"{W}footnoteReference": lambda one: f"[{one.get(f'{W}id')}]",
    f"{W}endnoteReference": lambda one: f"[e{one.get(f'{W}id')}]",
    f"{_M}oMath": _write_equation,
    f"{_M}oMathPara": _write_equation,
}


def _find_main_part(archive: zipfile.ZipFile) -> str:
    """Return the name of the document part, which is not fixed."""
    for one in read_xml(archive, "_rels/.rels"):
        if str(one.get("Type", "")).endswith("/officeDocument"):
            target: str = one.get("Target", "").lstrip("/")
            return target
    raise UnreadableFile("It is no Word document, or it is damaged. Save it again as .docx.")


def _inside(element: Any, tag: str) -> Iterator[Any]:
    for one in element.iterchildren():
        if one.tag == tag:
            yield one
        elif one.tag in (f"{W}sdt", f"{W}sdtContent", f"{W}customXml", f"{W}ins"):
            yield from _inside(one, tag)


WORD = Format(
    data_types=("docx", "docm", "dotx"),
    label="Word document",
    read=_read,
)
