"""The characters of one page of a PDF, as far as a page may have them.

The library makes some objects of each character, and reads the page to its end before it gives one.
"""

from typing import Any

from pdfminer.layout import LTPage
from pdfminer.pdfinterp import PDFPageInterpreter
from pdfplumber.page import Page, PDFPageAggregatorWithMarkedContent
from pdfplumber.utils.exceptions import PdfminerException

# A full page of a newspaper has 30,000. Measured: they take 4 s of CPU, of the 10 of a file.
MOST_ON_PAGE = 50_000


class _Enough(Exception):
    """The page has had as many characters as it may."""


class _Characters(PDFPageAggregatorWithMarkedContent):
    """Collects the characters of a page and nothing that is drawn: nobody looks at that."""

    count = 0

    def render_char(self, *args: Any) -> float:
        if self.count == MOST_ON_PAGE:
            raise _Enough
        self.count += 1
        advance: float = super().render_char(*args)
        return advance

    def paint_path(self, *args: Any) -> None:
        """Passes over lines and shapes: only text is wanted."""

    def render_image(self, *args: Any) -> None:
        """Passes over pictures: only text is wanted."""

    def end_early(self) -> None:
        """Ends the page where it stands."""
        while self._stack:
            self.end_figure("")
        if isinstance(self.cur_item, LTPage):
            self.receive_layout(self.cur_item)


def lay_out(page: Page) -> str:
    """Reads a page; what is to be said of it, in brackets.

    Raises:
        PdfminerException: It cannot be read.
    """
    note = ""
    device = _Characters(page.pdf.rsrcmgr, pageno=page.page_number, laparams=page.pdf.laparams)
    try:
        PDFPageInterpreter(page.pdf.rsrcmgr, device).process_page(page.page_obj)
    except _Enough:
        device.end_early()
        note = f"[page {page.page_number}: only the first {MOST_ON_PAGE:,} characters were read]"
    except Exception as error:  # a page's boundary (ADR 1): its library breaks over anything
        raise PdfminerException(error) from error
    page._layout = device.get_result()  # where the library looks first
    return note
