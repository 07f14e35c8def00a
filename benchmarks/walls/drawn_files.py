"""Files that ask for more than they hold, of drawn kinds and sizes."""

from collections.abc import Callable
from random import Random

from benchmarks.walls.arena import spread
from tests.agent.files import hostile_files
from tests.agent.files.sample_files import archive, docx, pdf, xls, xlsx
from tests.agent.files.sample_images import image, speckled

LAST_ROW, LAST_COLUMN = 1_048_576, 16_384
File = tuple[str, bytes]  # what it says that it is, and its bytes


def drawn_file(random: Random, *, most: float = 1.0) -> File:
    """A file; `most` makes the largest of them smaller."""
    return random.choice(KINDS)(random, most)


def _distant_cells(random: Random, most: float) -> File:
    row, column = spread(random, 10_000, LAST_ROW), _letters(spread(random, 26, LAST_COLUMN))
    cell = f'<row r="{row}"><c r="{column}{row}"><v>2</v></c></row>'
    return "xlsx", xlsx({"A": [[1]]}, inside=cell)


def _distant_old_cells(random: Random, most: float) -> File:
    return "xls", xls((0, 0), (spread(random, 100, 65_535), spread(random, 100, 65_535)))


def _many_cells(random: Random, most: float) -> File:
    rows = spread(random, 1000, 60_000 * most)
    return "xlsx", xlsx({"A": [[number, "text", 1.5] for number in range(rows)]})


def _packed_text(random: Random, most: float) -> File:
    return "xlsx", hostile_files.unpacking_to(spread(random, 5, 300 * most))


def _pdf_bomb(random: Random, most: float) -> File:
    text = random.choice((b" ", b"[", b"(x) Tj ", b"q ", b"0 "))
    megabytes = spread(random, 10, 1024 * most)
    return "pdf", hostile_files.flate_bomb(megabytes, times=random.choice((1, 2)), text=text)


def _pdf_pages(random: Random, most: float) -> File:
    return "pdf", pdf(*[["x"]] * spread(random, 10, 3000 * most))


def _paragraphs(random: Random, most: float) -> File:
    return "docx", hostile_files.paragraphs(spread(random, 10_000, 300_000 * most))


def _nested_tables(random: Random, most: float) -> File:
    nested = "<w:tbl><w:tr><w:tc>" * spread(random, 100, 5000)
    return "docx", hostile_files.docx_with(nested)


def _many_parts(random: Random, most: float) -> File:
    parts = {str(number): "" for number in range(spread(random, 1000, 30_000 * most))}
    return "docx", archive(parts)


def _lying(random: Random, most: float) -> File:
    data = hostile_files.paragraphs(spread(random, 100, 20_000))
    return "docx", hostile_files.lying_archive(data, size=random.randint(0, 1000))


def _text(random: Random, most: float) -> File:
    kind = random.choice(("csv", "txt", "html", "json", "md"))
    piece = random.choice((b",", b'"', b"a,b\n", b"<", b"[", b"<b>", b"\n", b"\xff\xfe", b'{"a":'))
    return kind, (piece * (10 * 2**20))[: spread(random, 1000, 10 * 2**20 * most)]


def _pixels(random: Random, most: float) -> File:
    return "png", hostile_files.declared_pixels(
        spread(random, 1000, 100_000), spread(random, 1000, 100_000)
    )


def _pictures(random: Random, most: float) -> File:
    return "gif", hostile_files.frames(spread(random, 10, 1000 * most))


def _comment(random: Random, most: float) -> File:
    return "png", hostile_files.text_in_png(spread(random, 1, 100 * most))


def _large_picture(random: Random, most: float) -> File:
    side = spread(random, 200, 1800 * most + 200)
    return random.choice(
        (("jpeg", speckled("JPEG", (side, side))), ("png", image(size=(5000, 5000))))
    )


def _noise(random: Random, most: float) -> File:
    kind = random.choice(("pdf", "docx", "xlsx", "xls", "png", "jpeg", "csv"))
    return kind, random.randbytes(spread(random, 1, 2 * 2**20))


def _damaged(random: Random, most: float) -> File:
    kind, data = random.choice(
        (("pdf", pdf(["A line"] * 40)), ("docx", docx("x")), ("png", image(size=(300, 300))))
    )
    damaged = bytearray(data)
    for _ in range(random.randint(1, 30)):
        damaged[random.randrange(len(damaged))] = random.randrange(256)
    return kind, bytes(damaged)


def _letters(number: int) -> str:
    """The name of a column of a sheet."""
    name = ""
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name


KINDS: tuple[Callable[[Random, float], File], ...] = (
    _distant_cells,
    _distant_old_cells,
    _many_cells,
    _packed_text,
    _pdf_bomb,
    _pdf_pages,
    _paragraphs,
    _nested_tables,
    _many_parts,
    _lying,
    _text,
    _pixels,
    _pictures,
    _comment,
    _large_picture,
    _noise,
    _damaged,
)
