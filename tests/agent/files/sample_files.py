"""Small files of every kind, made byte by byte."""

from base64 import b64encode
from io import BytesIO
from typing import Any
import zipfile

from docx import Document
from openpyxl import Workbook
from PIL import Image

SENTENCE = "The dividend per share rises to 1.20 euros this year."


def pdf(*pages: list[str]) -> bytes:
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
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{rows}trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF"
    return out + end.encode()


def docx(*paragraphs: str) -> bytes:
    """A Word document."""
    document = Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def xlsx(rows: list[list[object]]) -> bytes:
    """A workbook with one sheet."""
    book, out = Workbook(), BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(out)
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


RED = (200, 30, 40)


def image(
    kind: str = "PNG", size: tuple[int, int] = (8, 4), *, mode: str = "RGB", **options: Any
) -> bytes:
    """A red picture; `options` are those of Pillow."""
    out = BytesIO()
    Image.new("RGB", size, RED).convert(mode).save(out, format=kind, **options)
    return out.getvalue()


def speckled(kind: str, size: tuple[int, int], **options: Any) -> bytes:
    """A picture that no format makes small."""
    out = BytesIO()
    Image.effect_noise(size, 200).convert("RGBA" if kind == "PNG" else "RGB").save(
        out, format=kind, **options
    )
    return out.getvalue()


def turned(kind: str = "JPEG", size: tuple[int, int] = (8, 4)) -> bytes:
    """A picture of a camera that was held upright."""
    exif = Image.Exif()
    exif[0x0112] = 6
    return image(kind, size, exif=exif)


def deep_ramp(size: tuple[int, int] = (256, 4), **options: Any) -> bytes:
    """A PNG of 16 bits of grey, black at its left and white at its right."""
    out, (width, height) = BytesIO(), size
    shades = [round(at * 65_535 / (width - 1)) for at in range(width)]
    row = b"".join(shade.to_bytes(2, "little") for shade in shades)
    Image.frombytes("I;16", size, row * height).save(out, format="PNG", **options)
    return out.getvalue()
