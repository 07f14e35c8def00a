"""Read PDF with PDFium: text with its places, form fields, comments, and pictures of scanned pages."""

from base64 import b64encode
from collections.abc import Iterator
import ctypes
from functools import partial
from io import BytesIO
import math

import pypdfium2
from pypdfium2 import raw

from copilot_admin.agent.documents.document import (
    DocumentPage,
    Format,
    PageNoun,
    UnreadableFile,
    Word,
)
from copilot_admin.agent.documents.pdf_layout import Character, reconstruct_text

MAX_CHARACTERS = 50_000  # of one page; a full page of a newspaper has 30,000
MAX_ANNOTATIONS = 2_000  # of one page
MAX_PICTURES = 10  # pages that become pictures
PICTURE_PIXELS = 1_600  # of the longer side: enough to read 8-point text
MAX_TILT_DEGREES = 10.0  # from upright or sideways; other text is in reading order as it is drawn
_HIDDEN_FLAGS = 1 << 1 | 1 << 5  # annotation flags "hidden" and "no view"
_COMMENTS = frozenset(
    {
        raw.FPDF_ANNOT_TEXT,
        raw.FPDF_ANNOT_HIGHLIGHT,
        raw.FPDF_ANNOT_UNDERLINE,
        raw.FPDF_ANNOT_SQUIGGLY,
        raw.FPDF_ANNOT_STRIKEOUT,
        raw.FPDF_ANNOT_CARET,
        raw.FPDF_ANNOT_STAMP,
    }
)
_CHECKED, _UNCHECKED = "[x]", "[ ]"
_TEXT_FIELDS = frozenset(
    {raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX}
)
_SWITCHES = frozenset({raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON})


def _read(data: bytes, *, with_pictures: bool = False) -> Iterator[DocumentPage]:
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "assword" in str(error):
            raise UnreadableFile(
                "The PDF is locked with a password. Attach one without."
            ) from error
        raise ValueError("damaged") from error
    with document:
        if document.get_formtype():
            document.init_forms()
        pictures = MAX_PICTURES if with_pictures else 0
        for index in range(len(document)):
            try:
                page = _Page(document, index)
            except pypdfium2.PdfiumError:
                note = f"[page {index + 1}: it could not be read]"
                yield DocumentPage(number=index + 1, text="", note=note)
                continue
            read = page.read(with_picture=pictures > 0)
            pictures -= bool(read.picture)
            page.close()
            yield read


class _Page:
    """One page, in coordinates from its upper left corner after rotation."""

    def __init__(self, document: pypdfium2.PdfDocument, index: int) -> None:
        self._document = document
        self._page = document[index]
        self._text = self._page.get_textpage()
        self._number = index + 1
        self._rotation = self._page.get_rotation()
        self._box = self._page.get_cropbox()

    def close(self) -> None:
        self._text.close()
        self._page.close()

    def read(self, *, with_picture: bool) -> DocumentPage:
        notes: list[str] = []
        characters = list(self._characters(notes))
        comments = list(self._annotations(characters))
        text, words = reconstruct_text(characters)
        picture = ""
        if not text.strip() and self._has_image():
            picture = self._render() if with_picture else ""
            notes.append(
                "it is a picture without text" + (", which you are shown" if picture else "")
            )
        text = "\n".join(filter(None, (text, *comments)))
        note = f"[page {self._number}: {', '.join(notes)}]" if notes else ""
        return DocumentPage(
            number=self._number,
            text=text,
            words=tuple(_round(word) for word in words),
            note=note,
            picture=picture,
        )

    def _characters(self, notes: list[str]) -> Iterator[Character]:
        count = self._text.count_chars()
        if count > MAX_CHARACTERS:
            notes.append(f"only the first {MAX_CHARACTERS:,} characters were read")
        unmapped = 0
        handle, box, matrix = self._text.raw, raw.FS_RECTF(), raw.FS_MATRIX()
        x, y = ctypes.c_double(), ctypes.c_double()
        for index in range(min(count, MAX_CHARACTERS)):
            if raw.FPDFText_IsGenerated(handle, index) == 1:
                continue  # a blank or line end that PDFium inserts
            text = _clean(raw.FPDFText_GetUnicode(handle, index))
            if raw.FPDFText_HasUnicodeMapError(handle, index) == 1:
                unmapped += 1
                text = "\ufffd"
            if not text or not raw.FPDFText_GetLooseCharBox(handle, index, box):
                continue
            raw.FPDFText_GetCharOrigin(handle, index, x, y)
            raw.FPDFText_GetMatrix(handle, index, matrix)
            scale = math.hypot(matrix.c, matrix.d) or 1.0
            size = raw.FPDFText_GetFontSize(handle, index) * scale
            angle = _quadrant(math.degrees(math.atan2(matrix.b, matrix.a)))
            shown = (angle - self._rotation) % 360 if angle >= 0 else angle
            place = self._place(*_box_of_type(box, x.value, y.value, size, angle))
            yield Character(text, *place, size, shown)
        if unmapped:
            notes.append(
                f"{unmapped:,} characters stand as \ufffd, as their font doesn't say which letters "
                "they are"
            )

    def _place(
        self, left: float, bottom: float, right: float, top: float
    ) -> tuple[float, float, float, float]:
        """Return the box in coordinates from the upper left corner of the rotated page."""
        x0, y0, x1, y1 = self._box
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
            try:
                if raw.FPDFAnnot_GetFlags(annotation) & _HIDDEN_FLAGS:
                    continue
                kind = raw.FPDFAnnot_GetSubtype(annotation)
                if kind == raw.FPDF_ANNOT_WIDGET:
                    characters += self._write(annotation, self._value_of(annotation))
                elif kind == raw.FPDF_ANNOT_FREETEXT:
                    characters += self._write(annotation, _read_contents(annotation))
                elif kind in _COMMENTS and (text := _read_contents(annotation).strip()):
                    yield f"[comment: {text}]"
            finally:
                raw.FPDFPage_CloseAnnot(annotation)

    def _value_of(self, annotation: object) -> str:
        forms = self._document.formenv
        if forms is None:
            return ""
        kind = raw.FPDFAnnot_GetFormFieldType(forms, annotation)
        if kind in _SWITCHES:
            return _CHECKED if raw.FPDFAnnot_IsChecked(forms, annotation) else _UNCHECKED
        if kind not in _TEXT_FIELDS:
            return ""
        size = raw.FPDFAnnot_GetFormFieldValue(forms, annotation, None, 0)
        buffer = (raw.FPDF_WCHAR * (size // 2 + 1))()
        raw.FPDFAnnot_GetFormFieldValue(forms, annotation, buffer, size)
        return _decode(buffer, size)

    def _write(self, annotation: object, text: str) -> Iterator[Character]:
        """Yield the characters of a text as laid out in the box of an annotation, line by line."""
        rect = raw.FS_RECTF()
        lines = text.strip().splitlines()
        if not lines or not raw.FPDFAnnot_GetRect(annotation, rect):
            return
        x0, top, x1, bottom = self._place(rect.left, rect.bottom, rect.right, rect.top)
        height = (bottom - top) / len(lines)
        size = min(height, 12.0)
        for number, line in enumerate(lines):
            middle = top + height * (number + 0.5)
            width = min((x1 - x0) / len(line), size / 2) if line else 0
            for place, one in enumerate(line):
                left = x0 + place * width
                yield Character(one, left, middle - size / 2, left + width, middle + size / 2, size)

    def _has_image(self) -> bool:
        kinds = (raw.FPDF_PAGEOBJ_IMAGE,)
        return next(iter(self._page.get_objects(filter=kinds, max_depth=3)), None) is not None

    def _render(self) -> str:
        scale = PICTURE_PIXELS / max(*self._page.get_size(), 1)
        bitmap = self._page.render(scale=scale, may_draw_forms=True)
        file = BytesIO()
        bitmap.to_pil().convert("RGB").save(file, format="JPEG", quality=80)
        return f"data:image/jpeg;base64,{b64encode(file.getvalue()).decode('ascii')}"


def _box_of_type(
    box: raw.FS_RECTF, x: float, y: float, size: float, angle: int
) -> tuple[float, float, float, float]:
    """Return the box with the height of the type; that of PDFium fits any letter.

    Helvetica rises 0.72 of its size above the base line and falls 0.21 below it.
    """
    match angle:
        case 0:
            return box.left, y - 0.21 * size, box.right, y + 0.72 * size
        case 90:
            return x - 0.72 * size, box.bottom, x + 0.21 * size, box.top
        case 180:
            return box.left, y - 0.72 * size, box.right, y + 0.21 * size
        case 270:
            return x - 0.21 * size, box.bottom, x + 0.72 * size, box.top
        case _:
            return box.left, box.bottom, box.right, box.top


def _quadrant(degrees: float) -> int:
    nearest = round(degrees / 90) * 90
    return nearest % 360 if abs(degrees - nearest) <= MAX_TILT_DEGREES else -1


def _clean(code: int) -> str:
    if code == 2:
        return "-"  # PDFium's code for a hyphen at the end of a line
    if code < 32 or code in (0xFFFE, 0xFFFF) or 0xD800 <= code < 0xE000:
        return ""
    return chr(code)


def _read_contents(annotation: object) -> str:
    size = raw.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0)
    buffer = (raw.FPDF_WCHAR * (size // 2 + 1))()
    raw.FPDFAnnot_GetStringValue(annotation, b"Contents", buffer, size)
    return _decode(buffer, size)


def _decode(buffer: "ctypes.Array[ctypes.c_ushort]", size: int) -> str:
    return bytes(buffer)[:size].decode("utf-16-le", "replace").rstrip("\0")


def _round(word: Word) -> Word:
    places = (round(value, 2) for value in (word.x0, word.top, word.x1, word.bottom))
    return Word(word.text, *places)


PDF = Format(
    data_types=("pdf",),
    label="PDF",
    read=_read,
    read_with_pictures=partial(_read, with_pictures=True),
    page_word=PageNoun.PAGE,
    no_text="A scan has to be recognised (OCR) first, or shown to a model that sees images.",
)
