"""Word documents: paragraphs and tables in their order."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any
from zipfile import BadZipFile

from docx import Document as WordDocument
from docx.opc.exceptions import OpcError
from docx.oxml.ns import qn

from copilot_admin.agent.documents.formats import (
    DocumentPage,
    Format,
    UnreadableFile,
    check_archive,
)
from copilot_admin.agent.documents.old_office import check_unlocked, is_old_office

_PARAGRAPH, _TABLE = qn("w:p"), qn("w:tbl")
_TEXT = qn("w:t")
_ROW, _CELL = qn("w:tr"), qn("w:tc")
# What stands for a character; a hyphen that does not break a line is one all the same.
_CHARACTERS = {
    qn("w:tab"): "\t",
    qn("w:br"): "\n",
    qn("w:cr"): "\n",
    qn("w:noBreakHyphen"): "-",
}
# Around paragraphs, tables, rows and cells: content controls, and what was inserted since a version.
_AROUND = frozenset({qn("w:sdt"), qn("w:sdtContent"), qn("w:customXml"), qn("w:ins")})
# What stands in a paragraph and is no text of it: its form, what was deleted, drawings and boxes.
_ASIDE = frozenset(map(qn, ("w:pPr", "w:rPr", "w:del", "w:moveFrom", "w:drawing", "w:pict")))


def _read(data: bytes) -> Iterator[DocumentPage]:
    check_unlocked(data, what="document")
    if is_old_office(data):
        raise UnreadableFile("It is of an old Word. Save it as .docx and attach that.")
    check_archive(data)
    try:
        body = WordDocument(BytesIO(data)).element.body
    except (OpcError, BadZipFile, SyntaxError) as error:  # what lxml raises is a SyntaxError
        raise ValueError("no Word document") from error
    parts = map(_block, _inside(body, _PARAGRAPH, _TABLE))
    yield DocumentPage(number=1, text="\n".join(part for part in parts if part.strip()))


def _inside(around: Any, *tags: str) -> Iterator[Any]:
    """The elements of these tags: an object of the library for each takes 50 us."""
    for element in around.iterchildren():
        if element.tag in tags:
            yield element
        elif element.tag in _AROUND:
            yield from _inside(element, *tags)


def _block(block: Any) -> str:
    return _table(block) if block.tag == _TABLE else _paragraph(block)


def _table(table: Any) -> str:
    return "\n".join(" | ".join(map(_cell, _inside(row, _CELL))) for row in _inside(table, _ROW))


def _cell(cell: Any) -> str:
    return "\n".join(map(_block, _inside(cell, _PARAGRAPH, _TABLE))).strip()


def _paragraph(paragraph: Any) -> str:
    return "".join(_texts(paragraph))


def _texts(element: Any) -> Iterator[str]:
    for one in element.iterchildren():
        if one.tag == _TEXT:
            yield one.text or ""
        elif one.tag in _CHARACTERS:
            yield _CHARACTERS[one.tag]
        elif one.tag not in _ASIDE:
            yield from _texts(one)


WORD = Format(data_types=("docx",), label="Word document", read=_read)
