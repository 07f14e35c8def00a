"""Word documents and presentations, written with python-docx, python-pptx and LibreOffice."""

from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import Any
import zipfile

from docx import Document
from docx.oxml import parse_xml
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from tests.agent.documents.corpus.case import Case, libreoffice

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
BOX = f"""<w:r {W} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"
 xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
 xmlns:v="urn:schemas-microsoft-com:vml"><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing>
 <wps:txbx><w:txbxContent><w:p><w:r><w:t>Target price 220 in a box</w:t></w:r></w:p>
 </w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>
 <w:p><w:r><w:t>Target price 220 in a box</w:t></w:r></w:p></w:txbxContent></v:textbox></w:pict>
 </mc:Fallback></mc:AlternateContent></w:r>"""
FRACTION = f"""<m:oMath {M}><m:r><m:t>ROE=</m:t></m:r><m:f><m:num><m:r><m:t>profit</m:t></m:r></m:num>
 <m:den><m:r><m:t>equity</m:t></m:r></m:den></m:f></m:oMath>"""
POWER = f"""<m:oMathPara {M}><m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t>
 </m:r></m:sup></m:sSup><m:rad><m:deg/><m:e><m:r><m:t>y</m:t></m:r></m:e></m:rad></m:oMath></m:oMathPara>"""
SUM = f"""<m:oMath {M}><m:nary><m:naryPr><m:chr m:val="\u2211"/></m:naryPr><m:sub><m:r><m:t>i</m:t></m:r>
 </m:sub><m:sup/><m:e><m:d><m:e><m:r><m:t>a+b</m:t></m:r></m:e></m:d><m:rad><m:deg><m:r><m:t>3</m:t></m:r>
 </m:deg><m:e><m:r><m:t>z</m:t></m:r></m:e></m:rad></m:e></m:nary></m:oMath>"""
NOTES = f"""<?xml version="1.0" encoding="UTF-8"?><w:{{kind}}s {W}>
 <w:{{kind}} w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:{{kind}}>
 <w:{{kind}} w:id="2"><w:p><w:r><w:t>Restated by 17 million</w:t></w:r></w:p></w:{{kind}}></w:{{kind}}s>"""
NUMBERING = f"""<w:numbering {W}><w:abstractNum w:abstractNumId="7"><w:multiLevelType w:val="multilevel"/>
 <w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
 <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>
 <w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="lowerRoman"/><w:lvlText w:val="(%3)"/></w:lvl>
 </w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="7"/></w:num></w:numbering>"""


def saved(new: Callable[[], Any], fill: Callable[[Any], None]) -> Callable[[], bytes]:
    """Return a builder of a new document that is filled."""

    def build() -> bytes:
        document, file = new(), BytesIO()
        fill(document)
        document.save(file)
        return file.getvalue()

    return build


docx, pptx = partial(saved, Document), partial(saved, Presentation)


def with_part(build: Callable[[], bytes], name: str, text: str) -> Callable[[], bytes]:
    """Add a part to a package, or replace it; readers find these parts by their names."""

    def build_changed() -> bytes:
        file = BytesIO()
        with zipfile.ZipFile(BytesIO(build())) as old, zipfile.ZipFile(file, "w") as new:
            for entry in old.infolist():
                if entry.filename != name:
                    new.writestr(entry, old.read(entry))
            new.writestr(name, text)
        return file.getvalue()

    return build_changed


def add(paragraph: Any, xml: str) -> None:
    paragraph._p.append(parse_xml(xml))


def text_box(document: Any) -> None:
    add(document.add_paragraph("Before the box."), BOX)
    document.add_paragraph("After the box.")


def reference(kind: str) -> Callable[[Any], None]:
    def fill(document: Any) -> None:
        paragraph = document.add_paragraph("Net income 4,410")
        add(paragraph, f'<w:r {W}><w:{kind}Reference w:id="2"/></w:r>')
        add(paragraph, f"<w:r {W}><w:t> in 2024.</w:t></w:r>")

    return fill


def headers(document: Any) -> None:
    document.add_paragraph("Body 33.")
    section = document.sections[0]
    section.header.paragraphs[0].text = "Strictly confidential 2024"
    section.footer.paragraphs[0].text = "Draft of 31 March"
    document.add_section()  # repeats the header of the first


def comments(document: Any) -> None:
    paragraph = document.add_paragraph("The margin is 12 %.")
    document.add_comment(paragraph.runs, text="Is this before tax?", author="Ann Lee")


def clauses(document: Any) -> None:
    for level, text in (
        (0, "Definitions"),
        (1, "Loan means 5 million"),
        (1, "Bank means the lender"),
        (2, "in London"),
        (2, "in Paris"),
        (0, "Interest"),
        (1, "Rate is 4 %"),
    ):
        paragraph = document.add_paragraph(text)
        paragraph._p.get_or_add_pPr().append(
            parse_xml(f'<w:numPr {W}><w:ilvl w:val="{level}"/><w:numId w:val="7"/></w:numPr>')
        )


def lists(document: Any) -> None:
    for text in ("First step", "Second step"):
        document.add_paragraph(text, style="List Number")
    document.add_paragraph("A point", style="List Bullet")


def tables(document: Any) -> None:
    table = document.add_table(4, 3)
    table.cell(0, 1).merge(table.cell(0, 2)).text = "2024"
    table.cell(1, 0).merge(table.cell(2, 0)).text = "Retail"
    for row, column, text in ((1, 1, "10"), (1, 2, "12"), (2, 2, "14"), (3, 0, "Group")):
        table.cell(row, column).text = text
    inner = table.cell(3, 1).add_table(1, 2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "inner 1", "inner 2"


def equations(document: Any) -> None:
    add(document.add_paragraph("Return on equity: "), FRACTION)
    add(document.add_paragraph("Sum: "), SUM)
    document.element.body.insert(1, parse_xml(POWER))


def tracked(document: Any) -> None:
    paragraph = document.add_paragraph("The price is ")
    add(paragraph, f'<w:del {W} w:id="1" w:author="x"><w:r><w:delText>99</w:delText></w:r></w:del>')
    add(paragraph, f'<w:ins {W} w:id="2" w:author="x"><w:r><w:t>105</w:t></w:r></w:ins>')
    add(paragraph, f"<w:r {W}><w:t> euros.</w:t></w:r>")


def signs(document: Any) -> None:
    paragraph = document.add_paragraph("A")
    for xml in ("<w:tab/>", "<w:t>B</w:t>", "<w:noBreakHyphen/>", "<w:t>C</w:t>", "<w:br/>"):
        add(paragraph, f"<w:r {W}>{xml}</w:r>")
    add(paragraph, f"<w:r {W}><w:t>line two 88</w:t></w:r>")


def slides(presentation: Any) -> None:
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Results 2024"
    table = slide.shapes.add_table(2, 3, Inches(1), Inches(2), Inches(5), Inches(1)).table
    for column, text in enumerate(("Year", "Revenue", "EPS")):
        table.cell(0, column).text = text
    table.cell(1, 0).text, table.cell(1, 2).text = "2024", "1.2"
    slide.notes_slide.notes_text_frame.text = "Mention the 17 million"
    other = presentation.slides.add_slide(presentation.slide_layouts[6])
    for top, text in ((4, "below 2"), (1, "above 1")):
        box = other.shapes.add_textbox(Inches(1), Inches(top), Inches(3), Inches(1))
        box.text_frame.text = text


def chart(presentation: Any) -> None:
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    data = CategoryChartData()
    data.categories = ["2023", "2024"]
    data.add_series("Revenue", (4100, 4410.5))
    place = (Inches(1), Inches(1), Inches(5), Inches(3))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data)


CASES = (
    Case(
        "text box",
        "docx",
        docx(text_box),
        must=("Before the box.", "Target price 220 in a box", "After the box."),
        once=("220",),
    ),
    *(
        Case(
            kind,
            "docx",
            with_part(docx(reference(kind)), f"word/{kind}s.xml", NOTES.format(kind=kind)),
            must=(f"Net income 4,410[{mark}] in 2024.", f"[{mark}] Restated by 17 million"),
        )
        for kind, mark in (("footnote", "2"), ("endnote", "e2"))
    ),
    Case(
        "headers and footers",
        "docx",
        docx(headers),
        must=("[header] Strictly confidential 2024", "Body 33.", "[footer] Draft of 31 March"),
        once=("confidential", "31 March"),
    ),
    Case(
        "comments",
        "docx",
        docx(comments),
        must=("The margin is 12 %.", "[comment by Ann Lee: Is this before tax?]"),
    ),
    Case(
        "numbered clauses",
        "docx",
        with_part(docx(clauses), "word/numbering.xml", NUMBERING),
        must=(
            "1. Definitions\n1.1 Loan means 5 million\n1.2 Bank means the lender\n(i) in London\n"
            "(ii) in Paris\n2. Interest\n2.1 Rate is 4 %",
        ),
    ),
    Case(
        "lists by their style",
        "docx",
        docx(lists),
        must=("1. First step\n2. Second step\n- A point",),
    ),
    Case(
        "tables with merged cells",
        "docx",
        docx(tables),
        must=(" | 2024 | \nRetail | 10 | 12\n |  | 14\nGroup | inner 1 | inner 2",),
        once=("Retail", "2024"),
    ),
    Case(
        "equations",
        "docx",
        docx(equations),
        must=(
            "Return on equity: ROE=(profit)/(equity)",
            "x^2sqrt(y)",
            "Sum: \u2211_i (a+b)root(3, z)",
        ),
    ),
    Case(
        "tracked changes",
        "docx",
        docx(tracked),
        must=("The price is 105 euros.", "tracked changes were read as accepted"),
        must_not=("99",),
    ),
    Case("tabs and breaks", "docx", docx(signs), must=("A\tB-C\nline two 88",)),
    Case(
        "docx by LibreOffice",
        "docx",
        libreoffice("memo.docx"),
        must=("Memo 2024", "Net income 4,410", "Retail | 10 | 12", "Restated by 17 million"),
        once=("17 million", "4,410"),
    ),
    Case(
        "pdf by LibreOffice",
        "pdf",
        libreoffice("memo.pdf"),
        must=("Memo 2024", "Net income 4,410", "Retail | 10 | 12"),
        once=("4,410",),
    ),
    Case(
        "slides with tables and notes",
        "pptx",
        pptx(slides),
        must=(
            "[slide 1]\nResults 2024\nYear | Revenue | EPS\n2024 |  | 1.2",
            "[speaker notes] Mention the 17 million",
            "[slide 2]\nabove 1\nbelow 2",
        ),
    ),
    Case("chart on a slide", "pptx", pptx(chart), must=("2023 | 2024", "Revenue | 4100 | 4410.5")),
    Case(
        "old Word",
        "docx",
        lambda: bytes.fromhex("d0cf11e0a1b11ae1") + "WordDocument".encode("utf-16-le") + bytes(600),
        error="save it as .docx",
    ),
)
