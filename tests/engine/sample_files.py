"""Small files of every kind, made byte by byte."""

from base64 import b64encode
from io import BytesIO
from typing import Any
import zipfile

from docx import Document

SENTENCE = "The dividend per share rises to 1.20 euros this year."


def pdf(*pages: list[str], encrypted: bool = False) -> bytes:
    """A PDF with lines of text in Helvetica, 14 points apart."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    kids = []
    for lines in pages:
        text = (
            "BT /F1 12 Tf 72 720 Td " + " ".join(f"({line}) Tj 0 -14 Td" for line in lines) + " ET"
        )
        objects.append(f"<< /Length {len(text)} >>\nstream\n{text}\nendstream".encode())
        stream = len(objects)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {stream} 0 R "
            "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> "
            ">> >> >>".encode()
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = len(out)
    rows = "".join(f"{place:010} 00000 n \n" for place in places)
    locked = ""
    if encrypted:
        filler = "41" * 32
        locked = (
            f"/Encrypt << /Filter /Standard /V 1 /R 2 /O <{filler}> /U <{filler}> /P -4 >> "
            f"/ID [<{filler}> <{filler}>]"
        )
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{rows}trailer << /Size {len(objects) + 1} /Root 1 0 R {locked} >>\nstartxref\n{table}\n%%EOF"
    return out + end.encode()


def xlsx(sheets: dict[str, list[list[Any]]]) -> bytes:
    """A workbook with these sheets."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    links = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    packages = "http://schemas.openxmlformats.org/package/2006"
    numbers = range(1, len(sheets) + 1)
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="application/vnd.'
        'openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
        for n in numbers
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{packages}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default '
        'Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
        f"{types}</Types>",
        "_rels/.rels": f'<Relationships xmlns="{packages}/relationships"><Relationship Id="r" '
        f'Type="{links}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{links}"><sheets>'
        + "".join(
            f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>'
            for n, name in zip(numbers, sheets, strict=True)
        )
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{packages}/relationships">'
        + "".join(
            f'<Relationship Id="r{n}" Type="{links}/worksheet" Target="worksheets/sheet{n}.xml"/>'
            for n in numbers
        )
        + "</Relationships>",
    }
    for n, rows in zip(numbers, sheets.values(), strict=True):
        body = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
        parts[f"xl/worksheets/sheet{n}.xml"] = (
            f'<worksheet xmlns="{main}"><sheetData>{body}</sheetData></worksheet>'
        )
    return archive(parts)


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def docx(*paragraphs: str, table: list[list[str]] | None = None) -> bytes:
    """A Word document."""
    document = Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    if table:
        rows = document.add_table(len(table), len(table[0]))
        for row, texts in zip(rows.rows, table, strict=True):
            for cell, text in zip(row.cells, texts, strict=True):
                cell.text = text
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def archive(parts: dict[str, str]) -> bytes:
    """A ZIP archive with these members."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return out.getvalue()


def base64(data: bytes) -> str:
    """As Workspace sends it."""
    return b64encode(data).decode()
