"""PDF: the text of each page, and where its words stand."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import BytesIO
from typing import Any

import pdfplumber
from pdfplumber.utils.exceptions import MalformedPDFException, PdfminerException

from copilot_admin.agent.documents.formats import (
    DocumentPage,
    Format,
    PageWord,
    UnreadableFile,
    Word,
    each_part,
)
from copilot_admin.agent.documents.pdf_claims import check_claims
from copilot_admin.agent.documents.pdf_text import lay_out


def _read(data: bytes) -> Iterator[DocumentPage]:
    if b"%PDF-" not in data[:1024]:
        raise ValueError("no PDF")
    check_claims(data)
    try:
        with pdfplumber.open(BytesIO(data)) as document:
            yield from each_part(_pages(document.pages), damage=PdfminerException)
    except (PdfminerException, MalformedPDFException) as error:
        _raise_if_out_of_memory(error)
        if "Password" in repr(error):
            raise UnreadableFile(
                "The PDF is locked with a password. Attach one without."
            ) from error
        raise ValueError("damaged") from error


def _pages(
    pages: Sequence[Any],
) -> Iterator[tuple[DocumentPage, Callable[[], DocumentPage]]]:
    for number, page in enumerate(pages, start=1):
        note = f"[page {number}: it could not be read]"
        yield DocumentPage(number=number, text="", note=note), partial(_page, page, number)
        page.close()  # or the objects of all pages stay in memory


def _page(page: Any, number: int) -> DocumentPage:
    try:
        return _laid_out(page, number)
    except PdfminerException as error:
        _raise_if_out_of_memory(error)
        raise


def _raise_if_out_of_memory(error: BaseException) -> None:
    if any(isinstance(one, MemoryError) for one in (error.__context__, *error.args)):
        raise MemoryError from error


def _laid_out(page: Any, number: int) -> DocumentPage:
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
