"""PDF: the text of each page, and where its words stand."""

from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any

import pdfplumber
from pdfplumber.utils.exceptions import MalformedPDFException, PdfminerException

from copilot_admin.engine.documents.pdf_claims import check_claims
from copilot_admin.engine.documents.pdf_text import lay_out
from copilot_admin.engine.documents.registry import (
    DocumentPage,
    Format,
    PageWord,
    UnreadableFile,
    Word,
)


def _read(data: bytes) -> Iterator[DocumentPage]:
    if b"%PDF-" not in data[:1024]:
        raise ValueError("no PDF")
    check_claims(data)
    try:
        with pdfplumber.open(BytesIO(data)) as document:
            yield from _pages(document.pages)
    except (PdfminerException, MalformedPDFException) as error:
        if _is_out_of_memory(error):
            raise MemoryError from error  # the page is not damaged, it is too large
        if "Password" in repr(error):
            raise UnreadableFile(
                "The PDF is locked with a password. Attach one without."
            ) from error
        raise ValueError("damaged") from error


def _pages(pages: Sequence[Any]) -> Iterator[DocumentPage]:
    """Each page; one that is damaged, if only by one font, says so."""
    damage, has_text = None, False
    for number, page in enumerate(pages, start=1):
        try:
            read = _page(page, number)
        except PdfminerException as error:
            if _is_out_of_memory(error):
                raise
            damage = error
            read = DocumentPage(
                number=number, text="", note=f"[page {number}: it could not be read]"
            )
        has_text = has_text or bool(read.text)
        yield read
        page.close()  # or the objects of all pages stay in memory
    if damage is not None and not has_text:
        raise damage


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether this is what the library makes of a lack of memory."""
    return any(isinstance(one, MemoryError) for one in (error.__context__, *error.args))


def _page(page: Any, number: int) -> DocumentPage:
    note = lay_out(page)
    words = tuple(
        Word(one["text"], *(round(float(one[key]), 2) for key in ("x0", "top", "x1", "bottom")))
        for one in page.extract_words()
    )
    return DocumentPage(number=number, text=page.extract_text() or "", words=words, note=note)


PDF = Format(
    data_types=("pdf",),
    label="PDF",
    read=_read,
    page_word=PageWord.PAGE,
    no_text="A scan has to be recognised first.",
)
