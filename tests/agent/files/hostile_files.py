"""Small files that ask for far more than they hold, by kind; made when they are asked for."""

from collections.abc import Callable, Mapping
from functools import partial
from io import BytesIO
import struct
import zipfile
import zlib

from PIL import Image

from tests.agent.files.sample_files import archive, docx, pdf, xls, xlsx
from tests.agent.files.sample_images import image

CELLS = (
    '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
)
SPREADSHEET = "application/vnd.oasis.opendocument.spreadsheet"
REPEATED = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"><office:body>'
    '<office:spreadsheet><table:table table:name="A"><table:table-row '
    'table:number-rows-repeated="1000"><table:table-cell office:value-type="float" '
    'office:value="1" table:number-columns-repeated="16384"/></table:table-row></table:table>'
    "</office:spreadsheet></office:body></office:document-content>"
)


def repeated_cell() -> bytes:
    """An OpenDocument sheet of 16 million cells."""
    manifest = (
        '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry '
        f'm:full-path="/" m:media-type="{SPREADSHEET}"/></m:manifest>'
    )
    parts = {"META-INF/manifest.xml": manifest, "content.xml": REPEATED}
    return archive({"mimetype": SPREADSHEET, **parts})


def pdf_with(stream: bytes, *, filters: str = "/FlateDecode", kids: str = "3 0 R") -> bytes:
    """A PDF whose one page has this stream, without a table of places."""
    return (
        b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
        + f"2 0 obj\n<< /Type /Pages /Kids [{kids}] /Count 1 >>\nendobj\n".encode()
        + b"3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> "
        + f">>\nendobj\n4 0 obj\n<< /Length {len(stream)} /Filter [{filters}] >>\n".encode()
        + b"stream\n"
        + stream
        + b"\nendstream\nendobj\ntrailer << /Size 5 /Root 1 0 R >>\n%%EOF"
    )


def flate_bomb(megabytes: int, *, times: int = 1, text: bytes = b" ") -> bytes:
    """A page whose stream unpacks to this much."""
    packer = zlib.compressobj(9, strategy=zlib.Z_RLE)  # of one letter as small, in half the time
    piece = (text * (2**20 // len(text) + 1))[: 2**20]
    stream = b"".join(packer.compress(piece) for _ in range(megabytes)) + packer.flush()
    for _ in range(times - 1):
        stream = zlib.compress(stream, 9)
    return pdf_with(stream, filters=" ".join(["/FlateDecode"] * times))


def paragraphs(number: int) -> bytes:
    """A Word document of many short paragraphs."""
    return docx_with("<w:p><w:r><w:t>x</w:t></w:r></w:p>" * number)


def docx_with(inside: str) -> bytes:
    """A Word document with this XML behind its text."""
    return with_part(
        docx("x"), "word/document.xml", lambda xml: xml.replace("</w:body>", inside + "</w:body>")
    )


def with_part(data: bytes, name: str, change: Callable[[str], str]) -> bytes:
    """An archive with one of its members changed."""
    with zipfile.ZipFile(BytesIO(data)) as file:
        parts = {one: file.read(one).decode("utf-8", "replace") for one in file.namelist()}
    return archive({**parts, name: change(parts[name])})


def lying_archive(data: bytes, *, size: int) -> bytes:
    """An archive whose directory says that every member unpacks to no more than this."""
    out, place = bytearray(data), 0
    while (place := out.find(b"PK\x01\x02", place)) >= 0:
        struct.pack_into("<I", out, place + 24, size)
        place += 4
    return bytes(out)


def lying_document() -> bytes:
    """A Word document whose parts are longer than its directory says."""
    return lying_archive(paragraphs(1000), size=100)


def unpacking_to(megabytes: int) -> bytes:
    """A workbook with a shared text of this size, which a good packer makes a thousandth."""
    text = f"<sst><si><t>{'x' * (megabytes * 2**20)}</t></si></sst>"
    return with_part(
        archive({**members_of(xlsx({"A": [[1]]})), "xl/sharedStrings.xml": ""}),
        "xl/sharedStrings.xml",
        lambda _: text,
    )


def members_of(data: bytes) -> dict[str, str]:
    """The parts of an archive, as text."""
    with zipfile.ZipFile(BytesIO(data)) as file:
        return {one: file.read(one).decode() for one in file.namelist()}


def declared_pixels(width: int, height: int) -> bytes:
    """A PNG that says it is this large, and holds one row."""
    body = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", body), (b"IDAT", zlib.compress(bytes(100))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def text_in_png(megabytes: int) -> bytes:
    """A small PNG with a packed comment of this size."""
    packed = zlib.compress(bytes(megabytes * 2**20), 9)
    body = b"Comment\0\0" + packed
    chunk = struct.pack(">I", len(body)) + b"zTXt" + body
    chunk += struct.pack(">I", zlib.crc32(b"zTXt" + body))
    whole = image()
    return whole[:33] + chunk + whole[33:]


def frames(number: int) -> bytes:
    """A GIF of many pictures."""
    out = BytesIO()
    pictures = [Image.new("RGB", (64, 64), (one % 256, one // 256, 0)) for one in range(number)]
    pictures[0].save(out, format="GIF", save_all=True, append_images=pictures[1:])
    return out.getvalue()


Kinds = Mapping[str, tuple[str, Callable[[], bytes]]]

# Those that are refused, or end the process that reads them.
REFUSED: Kinds = {
    "xlsx, unpacks to 300 MB": ("xlsx", partial(unpacking_to, 300)),
    "xls, two distant cells": ("xls", partial(xls, (0, 0), (65535, 65535))),
    "xls, a directory without end": ("xls", partial(xls, (0, 0), endless=True)),
    "OpenDocument, a repeated cell": ("xlsx", repeated_cell),
    "pdf, a page of 2 GB, packed twice": ("pdf", partial(flate_bomb, 2048, times=2)),
    "pdf, a page of 100 MB of brackets": ("pdf", partial(flate_bomb, 100, text=b"[")),
    "docx, 20,000 parts": ("docx", lambda: archive({str(n): "" for n in range(20_000)})),
    "docx, a lying directory": ("docx", lying_document),
    "docx, a table in itself": ("docx", lambda: docx_with("<w:tbl><w:tr><w:tc>" * 5000)),
    "png, says 60,000 by 60,000": ("png", partial(declared_pixels, 60_000, 60_000)),
    "png, says 40 million and holds one row": ("png", partial(declared_pixels, 8000, 5000)),
}
# Those that can be read, as far as they go.
READ: Kinds = {
    "xlsx, two distant cells": ("xlsx", partial(xlsx, {"A": []}, inside=CELLS)),
    "docx, 300,000 paragraphs": ("docx", partial(paragraphs, 300_000)),
    "pdf, one page 1,000 times": ("pdf", partial(pdf, *[["x"]] * 1000)),
    "csv, 20 MB of commas": ("csv", lambda: b"," * (20 * 2**20)),
    "html, 5 MB of brackets": ("html", lambda: b"<" * (5 * 2**20) + b"x"),
    "gif, 2,000 pictures": ("gif", partial(frames, 2000)),
    "png, a comment of 100 MB": ("png", partial(text_in_png, 100)),
}
HOSTILE: Kinds = {**REFUSED, **READ}
