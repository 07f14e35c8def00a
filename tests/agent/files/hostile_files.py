"""Small files that ask for far more than they hold, by kind; made when they are asked for."""

from collections.abc import Callable, Mapping
from functools import partial
from io import BytesIO
import struct
import zipfile
import zlib

from tests.agent.files.sample_files import archive, docx, pdf, xlsx


def pdf_bomb(megabytes: int) -> bytes:
    """A page whose stream, packed twice, unpacks to this much."""
    packer = zlib.compressobj(9, strategy=zlib.Z_RLE)  # of one letter as small, in half the time
    piece = b" " * 2**20
    stream = b"".join(packer.compress(piece) for _ in range(megabytes)) + packer.flush()
    stream = zlib.compress(stream, 9)
    return (
        b"%%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
        b"2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n"
        b"3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>\nendobj\n"
        b"4 0 obj\n<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n%b"
        b"\nendstream\nendobj\ntrailer << /Size 5 /Root 1 0 R >>\n%%%%EOF"
    ) % (len(stream), stream)


def docx_with(inside: str) -> bytes:
    """A Word document with this XML behind its text."""
    return with_part(
        docx("x"), "word/document.xml", lambda xml: xml.replace("</w:body>", inside + "</w:body>")
    )


def paragraphs(number: int) -> bytes:
    return docx_with("<w:p><w:r><w:t>x</w:t></w:r></w:p>" * number)


def with_part(data: bytes, name: str, change: Callable[[str], str]) -> bytes:
    """An archive with one of its members changed."""
    with zipfile.ZipFile(BytesIO(data)) as file:
        parts = {one: file.read(one).decode("utf-8", "replace") for one in file.namelist()}
    return archive({**parts, name: change(parts[name])})


def lying_document() -> bytes:
    """A Word document whose parts are longer than its directory says."""
    out, place = bytearray(paragraphs(1000)), 0
    while (place := out.find(b"PK\x01\x02", place)) >= 0:
        struct.pack_into("<I", out, place + 24, 100)
        place += 4
    return bytes(out)


def unpacking_to(megabytes: int) -> bytes:
    """A workbook with a text of this size, which a good packer makes a thousandth."""
    text = "x" * (megabytes * 2**20)
    sheet = "xl/worksheets/sheet1.xml"
    return with_part(xlsx([["x"]]), sheet, lambda xml: xml.replace(">x<", f">{text}<"))


def declared_pixels(width: int, height: int) -> bytes:
    """A PNG that says it is this large, and holds one row."""
    body = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", body), (b"IDAT", zlib.compress(bytes(100))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


Kinds = Mapping[str, tuple[str, Callable[[], bytes]]]

# Those that are refused, or end the process that reads them.
REFUSED: Kinds = {
    "xlsx, unpacks to 300 MB": ("xlsx", partial(unpacking_to, 300)),
    "pdf, a page of 2 GB, packed twice": ("pdf", partial(pdf_bomb, 2048)),
    "docx, 20,000 parts": ("docx", lambda: archive({str(n): "" for n in range(20_000)})),
    "docx, a lying directory": ("docx", lying_document),
    "png, says 60,000 by 60,000": ("png", partial(declared_pixels, 60_000, 60_000)),
    "png, says 40 million and holds one row": ("png", partial(declared_pixels, 8000, 5000)),
}
# Those that can be read, as far as they go.
READ: Kinds = {
    "docx, 300,000 paragraphs": ("docx", partial(paragraphs, 300_000)),
    "pdf, one page 1,000 times": ("pdf", partial(pdf, *[["x"]] * 1000)),
}
