"""PDF documents, written with reportlab and changed with pikepdf."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pikepdf
from PIL import Image, ImageDraw
from reportlab.lib import colors
from reportlab.lib.pagesizes import letter
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

from tests.agent.documents.corpus.case import Case

LEFT_WORDS = "Sales of the left column grew in every region of the group"
RIGHT_WORDS = "Costs in the right column fell because freight was cheaper now"


def draw(paint: Callable[[Canvas], None], **options: object) -> Callable[[], bytes]:
    """Return a builder of a PDF on whose canvas something is painted."""

    def build() -> bytes:
        file = BytesIO()
        canvas = Canvas(file, pagesize=letter, invariant=1, **options)
        canvas.setFont("Helvetica", 12)
        paint(canvas)
        canvas.save()
        return file.getvalue()

    return build


def content(stream: bytes) -> Callable[[], bytes]:
    """Return a builder of a page with a content stream of its own."""

    def build() -> bytes:
        document = pikepdf.new()
        page = document.add_blank_page(page_size=(612, 792))
        page.Resources = pikepdf.Object.parse(
            b"<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica"
            b" /Encoding /WinAnsiEncoding >> >> >>"
        )
        page.Contents = document.make_stream(stream)
        file = BytesIO()
        document.save(file, deterministic_id=True)
        return file.getvalue()

    return build


def changed(
    build: Callable[[], bytes], change: Callable[[pikepdf.Pdf], None], **options: Any
) -> Callable[[], bytes]:
    def build_changed() -> bytes:
        file = BytesIO()
        with pikepdf.open(BytesIO(build())) as document:
            change(document)
            document.save(file, **options)
        return file.getvalue()

    return build_changed


def bold_twice(canvas: Canvas) -> None:
    for offset in (0, 0.3):
        canvas.drawString(72 + offset, 720, "Net income 4,410")


def sideways(canvas: Canvas) -> None:
    canvas.drawString(72, 720, "Upright 12")
    for angle, x, text in ((90, 100, "Sideways total 991"), (270, 500, "Downwards total 662")):
        canvas.saveState()
        canvas.translate(x, 400)
        canvas.rotate(angle)
        canvas.drawString(0, 0, text)
        canvas.drawString(0, -14, f"second line of {angle}")
        canvas.restoreState()


def landscape(rotation: int) -> Callable[[Canvas], None]:
    def paint(canvas: Canvas) -> None:
        canvas.setPageRotation(rotation)
        # reportlab lays the page down, so that it is shown upright.
        canvas.translate(*((306, 396) if rotation % 180 == 0 else (396, 306)))
        canvas.rotate(rotation)
        canvas.drawString(-100, 20, f"Turned page {rotation}: revenue 1,234")
        canvas.drawString(-100, 0, "second line 5,678")

    return paint


def table_without_lines(canvas: Canvas) -> None:
    rows = [
        ("Year", "Revenue", "EPS"),
        ("2022", "4,100", "0.9"),
        ("2023", "", "1.2"),
        ("2024", "5,000", ""),
    ]
    for number, row in enumerate(rows):
        y = 700 - 16 * number
        canvas.drawString(72, y, row[0])
        canvas.drawRightString(260, y, row[1])
        canvas.drawRightString(360, y, row[2])


def ruled_table() -> bytes:
    file = BytesIO()
    rows = [
        ["Segment", "2023", "2024", "Change"],
        ["Retail banking", "1,204", "1,310", "8.8%"],
        ["Insurance", "", "402", ""],
        ["Group", "1,204", "1,712", "42.2%"],
    ]
    table = Table(rows, style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black)])
    SimpleDocTemplate(file, pagesize=letter, invariant=1).build([table])
    return file.getvalue()


def two_columns(canvas: Canvas) -> None:
    canvas.setFont("Times-Roman", 9)
    canvas.drawString(72, 740, "Header of the report, page 7")
    for number in range(12):
        canvas.drawString(72, 700 - 11 * number, f"{LEFT_WORDS} {number}")
        canvas.drawString(330, 700 - 11 * number, f"{RIGHT_WORDS} {number}")
    canvas.drawString(72, 40, "Footer with page number 7")


def table_below_columns(canvas: Canvas) -> None:
    canvas.setFont("Times-Roman", 9)
    for number in range(8):
        canvas.drawString(50, 740 - 11 * number, f"{LEFT_WORDS} {number}")
        canvas.drawString(330, 740 - 11 * number, f"{RIGHT_WORDS} {number}")
    rows = [
        ("Segment", "Q1", "Q2", "Q3", "Q4"),
        ("Retail", "10.1", "", "12.3", "13.0"),
        ("Wholesale", "7.0", "7.1", "", "7.9"),
    ]
    for number, row in enumerate(rows):
        y = 620 - 13 * number
        canvas.drawString(50, y, row[0])
        for column, text in enumerate(row[1:], start=1):
            canvas.drawRightString(90 + 90 * column, y, text)


def paragraphs() -> bytes:
    file = BytesIO()
    style = getSampleStyleSheet()["BodyText"]
    style.alignment = 4  # justified
    text = "Revenue rose to 4,410 million euros in 2024, after 4,100 million euros in 2023. " * 12
    SimpleDocTemplate(file, pagesize=letter, invariant=1).build([Paragraph(text, style)])
    return file.getvalue()


def form(canvas: Canvas) -> None:
    canvas.drawString(72, 705, "Amount in euros")
    canvas.acroForm.textfield(name="amount", value="4,711", x=180, y=700, width=120, height=18)
    canvas.drawString(72, 665, "Audited")
    canvas.acroForm.checkbox(name="audited", checked=True, x=180, y=660)
    canvas.drawString(72, 625, "Restated")
    canvas.acroForm.checkbox(name="restated", checked=False, x=180, y=620)


def annotate(document: pikepdf.Pdf) -> None:
    document.pages[0].Annots = pikepdf.Array(
        document.make_indirect(
            pikepdf.Object.parse(
                f"<< /Type /Annot /Subtype /{kind} /Rect [{rect}] /Contents ({text})"
                " /DA (/Helv 12 Tf 0 g) >>".encode()
            )
        )
        for kind, text, rect in (
            ("FreeText", "Typed on the page 93", "300 700 420 720"),
            ("Text", "Sticky note 58", "10 10 30 30"),
            ("Highlight", "Check figure 61", "72 718 200 732"),
        )
    )


def without_unicode(document: pikepdf.Pdf) -> None:
    """Make the font one of glyph numbers that nothing maps to letters."""
    font = pikepdf.Object.parse(
        b"<< /Type /Font /Subtype /Type0 /BaseFont /AAAAAA+Odd /Encoding /Identity-H"
        b" /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /AAAAAA+Odd /DW 600"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>] >>"
    )
    document.pages[0].Resources.Font["/F1"] = document.make_indirect(font)


def scan(canvas: Canvas) -> None:
    image = Image.new("RGB", (600, 400), "white")
    ImageDraw.Draw(image).text((50, 50), "scanned words", fill="black")
    canvas.drawString(72, 720, "First page has text 15")
    canvas.showPage()
    canvas.drawImage(ImageReader(image), 50, 200, 500, 400)


LOCK = pikepdf.Encryption(user="secret", owner="other")
_GAPS = b"BT /F1 %d Tf 72 720 Td [(Net)-250(income)-250(was)-250(4,410)-250(in)-250(2024)] TJ ET"

CASES = (
    Case(
        "bold drawn twice",
        "pdf",
        draw(bold_twice),
        must=("Net income 4,410",),
        must_not=("44,", "NN"),
        once=("4,410",),
    ),
    *(
        Case(
            f"gaps between words at {size} points",
            "pdf",
            content(_GAPS % size),
            must=("Net income was 4,410 in 2024",),
        )
        for size in (6, 8, 10, 20)
    ),
    Case(
        "turned text beside upright text",
        "pdf",
        draw(sideways),
        must=("Upright 12", "Sideways total 991", "second line of 90"),
        must_not=("199", "266"),
        once=("Downwards total 662", "second line of 270"),
    ),
    *(
        Case(
            f"page turned by {rotation}",
            "pdf",
            draw(landscape(rotation)),
            must=(f"Turned page {rotation}: revenue 1,234", "second line 5,678"),
        )
        for rotation in (90, 180, 270)
    ),
    Case(
        "table with empty cells",
        "pdf",
        draw(table_without_lines),
        must=("Year | Revenue | EPS", "2022 | 4,100 | 0.9", "2023 |  | 1.2", "2024 | 5,000 |"),
    ),
    Case(
        "table with lines",
        "pdf",
        ruled_table,
        must=(
            "Segment | 2023 | 2024 | Change",
            "Retail banking | 1,204 | 1,310 | 8.8%",
            "Insurance |  | 402 |",
            "Group | 1,204 | 1,712 | 42.2%",
        ),
    ),
    Case(
        "two columns with header and footer",
        "pdf",
        draw(two_columns),
        must=(
            "Header of the report, page 7",
            f"{LEFT_WORDS} 0\n{LEFT_WORDS} 1",
            f"{LEFT_WORDS} 11",
            f"{RIGHT_WORDS} 0\n{RIGHT_WORDS} 1",
            f"{RIGHT_WORDS} 11",
            "Footer with page number 7",
        ),
    ),
    Case(
        "table over both columns",
        "pdf",
        draw(table_below_columns),
        must=(
            f"{LEFT_WORDS} 7",
            f"{RIGHT_WORDS} 0\n{RIGHT_WORDS} 1",
            "Segment | Q1 | Q2 | Q3 | Q4",
            "Retail | 10.1 |  | 12.3 | 13.0",
            "Wholesale | 7.0 | 7.1 |  | 7.9",
        ),
    ),
    Case(
        "justified paragraphs",
        "pdf",
        paragraphs,
        must=("Revenue rose to 4,410 million euros in",),
        must_not=(" | ",),
    ),
    Case(
        "form fields",
        "pdf",
        draw(form),
        must=("Amount in euros", "4,711", "Audited", "[x]", "Restated", "[ ]"),
        once=("4,711",),
    ),
    Case(
        "annotations",
        "pdf",
        changed(draw(bold_twice), annotate),
        must=("Net income 4,410", "Typed on the page 93", "Sticky note 58", "Check figure 61"),
        once=("93", "58", "61"),
    ),
    Case(
        "font without a Unicode map",
        "pdf",
        changed(content(b"BT /F1 12 Tf 72 720 Td <000100020003> Tj ET"), without_unicode),
        must=("characters",),
        must_not=("(cid:", "cid:1"),
    ),
    Case(
        "scanned page",
        "pdf",
        draw(scan),
        must=("First page has text 15", "page 2: it is a picture without text"),
    ),
    Case(
        "locked with a password",
        "pdf",
        changed(draw(bold_twice), lambda _: None, encryption=LOCK),
        error="locked with a password",
    ),
)
