"""Small files of every kind, made byte by byte."""

from base64 import b64encode
from io import BytesIO
from struct import pack
from typing import Any
import zipfile

from docx import Document

LAST = 0xFFFFFFFE  # of a chain of sectors
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


def xlsx(sheets: dict[str, list[list[Any]]], *, inside: str = "") -> bytes:
    """A workbook with these sheets, each with this XML behind its rows."""
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
            f'<worksheet xmlns="{main}"><sheetData>{body}{inside}</sheetData></worksheet>'
        )
    return archive(parts)


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def xls(*cells: tuple[int, int], endless: bool = False, stream: str = "Workbook") -> bytes:
    """A workbook of the old format: a sheet "A" with 1.5 at each of these rows and columns.

    Args:
        cells: Row and column of each, from 0.
        endless: The sectors of the directory form a ring.
        stream: How what holds it is called; another name is another kind of file.
    """
    book, sheet = (_record(0x0809, pack("<HHHHII", 0x0600, kind, 0, 0, 0, 0)) for kind in (5, 16))
    end = _record(0x000A, b"")
    place = len(book) + len(_record(0x0085, bytes(9))) + len(end)
    records = (
        book
        + _record(0x0085, pack("<IBB", place, 0, 0) + b"\1\0A")
        + end
        + sheet
        + b"".join(_record(0x0203, pack("<HHHd", *cell, 0, 1.5)) for cell in cells)
        + end
    ).ljust(4096, b"\0")
    sectors_after = [0xFFFFFFFD, 1 if endless else LAST, *range(3, 10), LAST]
    return b"".join(
        (
            bytes.fromhex("d0cf11e0a1b11ae1").ljust(24, b"\0"),
            pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6),
            pack("<9I", 0, 1, 1, 0, 4096, LAST, 0, LAST, 0),
            pack("<I", 0).ljust(436, b"\xff"),
            pack("<10I", *sectors_after).ljust(512, b"\xff"),
            (_directory("Root Entry", 5, LAST, 0) + _directory(stream, 2, 2, len(records))).ljust(
                512, b"\0"
            ),
            records,
        )
    )


def _record(kind: int, data: bytes) -> bytes:
    return pack("<HH", kind, len(data)) + data


def _directory(name: str, kind: int, start: int, size: int) -> bytes:
    text = name.encode("utf-16-le") + b"\0\0"
    tree = pack("<HBB12s", len(text), kind, 1, b"\xff" * 12)
    return text.ljust(64, b"\0") + tree.ljust(52, b"\0") + pack("<II4x", start, size)


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
