"""Read PDF with PDFium: text with its places, form fields, comments, and pictures of scanned pages."""

from base64 import b64encode
from collections.abc import Callable, Iterator
import ctypes
from functools import partial
from io import BytesIO
import math
from typing import Any

import pypdfium2
from pypdfium2 import raw

from copilot_admin.agent.documents.document import DocumentPage, Format, UnreadableFile
from copilot_admin.agent.documents.pdf_layout import DESCENT, Box, Character, reconstruct_text

MAX_CHARACTERS = 50_000  # of one page; a full page of a newspaper has 30,000
MAX_ANNOTATIONS = 2_000  # of one page
MAX_PICTURES = 10  # pages that become pictures
PICTURE_PIXELS = 1_600  # of the longer side: enough to read 8-point text
MAX_TILT_DEGREES = 10.0  # from upright or sideways; other text is in reading order as it is drawn
ASCENT = 0.72  # of a box above the base line, as Helvetica rises
_HIDDEN_FLAGS = 1 << 1 | 1 << 5  # annotation flags "hidden" and "no view"
_COMMENTS = (
    *(raw.FPDF_ANNOT_TEXT, raw.FPDF_ANNOT_HIGHLIGHT, raw.FPDF_ANNOT_UNDERLINE),
    *(raw.FPDF_ANNOT_SQUIGGLY, raw.FPDF_ANNOT_STRIKEOUT, raw.FPDF_ANNOT_CARET),
    raw.FPDF_ANNOT_STAMP,
)
_TEXT_FIELDS = (
    *(raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX),
)
_SWITCHES = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)


def _read(data: bytes, *, with_pictures: bool = False) -> Iterator[DocumentPage]:
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "assword" in str(error):
            locked = "The PDF is locked with a password. Attach one without."
            raise UnreadableFile(locked) from error
        raise
    with document:
        if document.get_formtype():
            document.init_forms()
        pictures = MAX_PICTURES if with_pictures else 0
        for index in range(len(document)):
            try:
                page = document[index]
            except pypdfium2.PdfiumError:
                note = f"[page {index + 1}: it could not be read]"
                yield DocumentPage(number=index + 1, text="", note=note)
                continue
            read = _Page(document, page).read(index + 1, with_picture=pictures > 0)
            pictures -= bool(read.picture)
            page.close()
            yield read


class _Page:
    """One page, in coordinates from its upper left corner after rotation."""

    def __init__(self, document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage) -> None:
        self._forms = document.formenv
        self._page = page
        self._rotation = page.get_rotation()
        self._crop_box = page.get_cropbox()
        self._notes: list[str] = []

    def read(self, number: int, *, with_picture: bool) -> DocumentPage:
        characters = list(self._characters())
        comments = list(self._annotations(characters))
        text, words = reconstruct_text(characters)
        picture = ""
        images = self._page.get_objects(filter=(raw.FPDF_PAGEOBJ_IMAGE,), max_depth=3)
        if not text.strip() and next(iter(images), None) is not None:
            picture = self._render() if with_picture else ""
            shown = ", which you are shown" if picture else ""
            self._notes.append(f"it is a picture without text{shown}")
        return DocumentPage(
            number=number,
            text="\n".join(filter(None, (text, *comments))),
            words=tuple(words),
            note=f"[page {number}: {', '.join(self._notes)}]" if self._notes else "",
            picture=picture,
        )

    def _characters(self) -> Iterator[Character]:
        text_page = self._page.get_textpage()
        count = text_page.count_chars()
        if count > MAX_CHARACTERS:
            self._notes.append(f"only the first {MAX_CHARACTERS:,} characters were read")
        unmapped = 0
        handle, rect, matrix = text_page.raw, raw.FS_RECTF(), raw.FS_MATRIX()
        x, y = ctypes.c_double(), ctypes.c_double()
        for index in range(min(count, MAX_CHARACTERS)):
            if raw.FPDFText_IsGenerated(handle, index) == 1:
                continue  # a blank or line end that PDFium inserts
            text = _clean(raw.FPDFText_GetUnicode(handle, index))
            if raw.FPDFText_HasUnicodeMapError(handle, index) == 1:
                unmapped += 1
                text = "\ufffd"
            if not text or not raw.FPDFText_GetLooseCharBox(handle, index, rect):
                continue
            raw.FPDFText_GetCharOrigin(handle, index, x, y)
            raw.FPDFText_GetMatrix(handle, index, matrix)
            scale = math.hypot(matrix.c, matrix.d) or 1.0
            size = raw.FPDFText_GetFontSize(handle, index) * scale
            degrees = math.degrees(math.atan2(matrix.b, matrix.a))
            angle = round(degrees / 90) * 90
            is_tilted = abs(degrees - angle) > MAX_TILT_DEGREES
            box = _box_of_type(rect, x.value, y.value, size, -1 if is_tilted else angle % 360)
            turned = -1 if is_tilted else (angle - self._rotation) % 360
            yield Character(text, self._place(*box), size, turned)
        if unmapped:
            self._notes.append(
                f"{unmapped:,} characters stand as \ufffd, as their font doesn't say which letters "
                "they are"
            )

    def _place(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return the box in coordinates from the upper left corner of the rotated page."""
        x0, y0, x1, y1 = self._crop_box
        match self._rotation:
            case 90:
                return bottom - y0, left - x0, top - y0, right - x0
            case 180:
                return x1 - right, bottom - y0, x1 - left, top - y0
            case 270:
                return y1 - top, x1 - right, y1 - bottom, x1 - left
            case _:
                return left - x0, y1 - top, right - x0, y1 - bottom

    def _annotations(self, characters: list[Character]) -> Iterator[str]:
        """Add values of fields and texts on the page to the characters; yield comments."""
        count = min(raw.FPDFPage_GetAnnotCount(self._page), MAX_ANNOTATIONS)
        for index in range(count):
            annotation = raw.FPDFPage_GetAnnot(self._page, index)
            contents = partial(raw.FPDFAnnot_GetStringValue, annotation, b"Contents")
            if not raw.FPDFAnnot_GetFlags(annotation) & _HIDDEN_FLAGS:
                kind = raw.FPDFAnnot_GetSubtype(annotation)
                if kind == raw.FPDF_ANNOT_WIDGET and self._forms is not None:
                    characters += self._write(annotation, self._value_of(annotation))
                elif kind == raw.FPDF_ANNOT_FREETEXT:
                    characters += self._write(annotation, _read_string(contents))
                elif kind in _COMMENTS and (text := _read_string(contents).strip()):
                    yield f"[comment: {text}]"
            raw.FPDFPage_CloseAnnot(annotation)

    def _value_of(self, annotation: object) -> str:
        kind = raw.FPDFAnnot_GetFormFieldType(self._forms, annotation)
        if kind in _SWITCHES:
            return "[x]" if raw.FPDFAnnot_IsChecked(self._forms, annotation) else "[ ]"
        if kind in _TEXT_FIELDS:
            value = partial(raw.FPDFAnnot_GetFormFieldValue, self._forms, annotation)
            return _read_string(value)
        return ""

    def _write(self, annotation: object, text: str) -> Iterator[Character]:
        """Yield the lines of a text as they are laid out in the box of an annotation."""
        rect = raw.FS_RECTF()
        lines = [line for line in text.splitlines() if line.strip()]
        if not lines or not raw.FPDFAnnot_GetRect(annotation, rect):
            return
        x0, top, x1, bottom = self._place(rect.left, rect.bottom, rect.right, rect.top)
        height = (bottom - top) / len(lines)
        size = min(height, 12.0)
        for number, line in enumerate(lines):
            middle = top + height * (number + 0.5)
            width = min(x1 - x0, len(line) * size / 2)
            yield Character(line, (x0, middle - size / 2, x0 + width, middle + size / 2), size)

    def _render(self) -> str:
        scale = PICTURE_PIXELS / max(*self._page.get_size(), 1)
        image = self._page.render(scale=scale, may_draw_forms=True).to_pil()
        file = BytesIO()
        image.convert("RGB").save(file, format="JPEG", quality=80)
        return f"data:image/jpeg;base64,{b64encode(file.getvalue()).decode('ascii')}"


def _box_of_type(rect: raw.FS_RECTF, x: float, y: float, size: float, angle: int) -> Box:
    """Return the box with the height of the type; that of PDFium fits any letter."""
    below, above = (DESCENT, ASCENT) if angle in (0, 270) else (ASCENT, DESCENT)
    if angle in (0, 180):
        return rect.left, y - below * size, rect.right, y + above * size
    if angle in (90, 270):
        return x - below * size, rect.bottom, x + above * size, rect.top
    return rect.left, rect.bottom, rect.right, rect.top


def _clean(code: int) -> str:
    if code == 2:
        return "-"  # PDFium's code for a hyphen at the end of a line
    if code < 32 or code in (0xFFFE, 0xFFFF) or 0xD800 <= code < 0xE000:
        return ""
    return chr(code)


def _read_string(fill: Callable[[Any, int], int]) -> str:
    """Return the text that a function of PDFium writes into a buffer of the size it returns."""
    size = fill(None, 0)
    buffer = (raw.FPDF_WCHAR * (size // 2 + 1))()
    fill(buffer, size)
    return bytes(buffer)[:size].decode("utf-16-le", "replace").rstrip("\0")


PDF = Format(
    data_types=("pdf",),
    label="PDF",
    read=_read,
    read_with_pictures=partial(_read, with_pictures=True),
    page_word="page",
    no_text="A scan has to be recognised (OCR) first, or shown to a model that sees images.",
)
