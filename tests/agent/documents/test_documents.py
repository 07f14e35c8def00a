"""Documents of many writers are read: every part in order, nothing twice, and errors say why.

`files` has a document for each behaviour, made with LibreOffice, reportlab, pikepdf, python-docx,
python-pptx, xlsxwriter and openpyxl, and next to each the text that models get.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random
import time

import pytest

from copilot_admin.agent.documents import office, registry, spreadsheet
from copilot_admin.agent.documents import pdf as pdf_module
from copilot_admin.agent.documents.document import (
    Document,
    DocumentPage,
    UnreadableFile,
    build_document,
    find_quotes,
    page_of,
)
from copilot_admin.agent.documents.registry import format_of, parts_of
from copilot_admin.agent.documents.text_encodings import (
    DAMAGED,
    GUESSED,
    UNKNOWN,
    decode_text,
    is_probably_text,
)
from tests.agent.files.hostile_files import docx_with
from tests.agent.files.sample_files import archive, pdf, xlsx

FOLDER = Path(__file__).parent / "files"
TEXTS = sorted(FOLDER.glob("*.text"))
OLD = bytes.fromhex("d0cf11e0a1b11ae1")  # the container of old programs


def read(kind: str, data: bytes, *, pictures: bool = False) -> Document:
    parts = list(parts_of(data, data_type=kind, name="file", pictures=pictures))
    return build_document(parts, name="file")


def read_file(name: str) -> Document:
    return read(name.rpartition(".")[2], (FOLDER / name).read_bytes())


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_a_document_is_read(text: Path) -> None:
    assert read_file(text.stem).text + "\n" == text.read_text()


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("pdf", (FOLDER / "locked-with-a-password.pdf").read_bytes(), "locked with a password"),
        ("docx", OLD + "WordDocument".encode("utf-16-le") + bytes(600), "save it as .docx"),
        ("xlsx", OLD + "EncryptedPackage".encode("utf-16-le"), "locked with a password"),
        ("xlsx", xlsx([["x", 1]])[:2000], "damaged"),
        ("docx", archive({"a.txt": "x"}), "Attach the files in it one by one"),
        ("docx", archive({"content.xml": ""}), "OpenDocument texts aren't read"),
        ("doc", b"\x7fELF" + bytes(90), "It is a program, not a document."),
        ("csv", b"\x00\x01\x02\x03a\0b" * 20, "no document of a known kind"),
        ("txt", b" \n " * 100, "It holds no text"),
    ],
)
def test_a_document_that_cannot_be_read_says_why(kind: str, data: bytes, words: str) -> None:
    with pytest.raises(UnreadableFile) as error:
        read(kind, data)
    assert words in error.value.public


def test_tables_in_tables_and_content_controls_are_read() -> None:
    def control(inside: str) -> str:
        return f"<w:sdt><w:sdtContent>{inside}</w:sdtContent></w:sdt>"

    def cell(word: str, inside: str = "") -> str:
        return f"<w:tc><w:p><w:r><w:t>{word}</w:t></w:r></w:p>{inside}</w:tc>"

    inner = f"<w:tbl><w:tr>{cell('c')}{control(cell('d'))}</w:tr></w:tbl>"
    row = f"<w:tr>{cell('a')}{cell('b', inner)}</w:tr>"
    table = f"<w:tbl>{row}{control(row.replace('>a<', '>e<'))}</w:tbl>"
    assert read("docx", docx_with(table)).text == "x\na | b c | d\ne | b c | d"


@pytest.mark.parametrize(
    ("limit", "value", "data", "end"),
    [
        ((registry, "MAX_PAGES"), 2, pdf(["one"], ["two"], ["three"]),
         "two\n[only the first 2 pages were read; the file has more]"),
        ((registry, "MAX_CHARACTERS"), 4, pdf(["one"], ["two"], ["three"]),
         "[page 2]\nt\n[only the first 4 characters were read: too much text]"),
        ((pdf_module, "MAX_CHARACTERS"), 7, pdf(["one two"], ["three four"], ["five"]),
         "three f\n[page 3]\nfive\n[page 2: only the first 7 characters were read]"),
        ((spreadsheet, "MAX_ROWS"), 2, xlsx([[1, "a"], [2, "b"], [3, "c"]]),
         "2,b\n[sheet Sheet: only rows 1 to 2 of 3 were read, columns A to B]"),
        ((spreadsheet, "MAX_COLUMNS"), 2, xlsx([[1, 2, 3]]),
         "1,2\n[sheet Sheet: only the first 2 of 3 columns were read]"),
    ],
)  # fmt: skip
def test_the_rest_of_a_long_file_is_left_out(
    limit: tuple[object, str], value: int, data: bytes, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*limit, value)
    assert read("pdf", data).text.endswith(end)


def test_an_archive_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "MAX_UNPACKED_BYTES", 1000)
    for data in (xlsx([["x"]]), docx_with("")):
        with pytest.raises(UnreadableFile, match="more than 200 MB"):
            read("docx", data)


def test_a_file_that_breaks_behind_some_text_has_that_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def read_broken(data: bytes) -> Iterator[DocumentPage]:
        yield DocumentPage(number=1, text="one")
        raise RuntimeError

    form = format_of("txt")
    assert form is not None
    monkeypatch.setattr(registry, "FORMATS", (replace(form, read=read_broken),))
    assert read("txt", b"x").text == "one\n[only the first page was read: what follows is damaged]"


def test_a_file_that_takes_too_long_is_read_as_far_as_it_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = count()
    monkeypatch.setattr(time, "process_time", lambda: next(clock) * 6.0)
    assert "only the first 2 pages" in read("pdf", pdf(["one"], ["two"], ["three"])).text


def test_pages_without_text_are_pictures_where_they_are_wanted() -> None:
    document = read("pdf", (FOLDER / "scanned-page.pdf").read_bytes(), pictures=True)
    assert [bool(page.picture) for page in document.pages] == [False, True]
    assert document.pages[1].picture.startswith("data:image/jpeg;base64,")
    assert "which you are shown" in document.left_out


# Places of quotes


def box_of(document: Document, text: str) -> tuple[float, float, float, float]:
    [word] = [one for page in document.pages for one in page.words if one.text == text]
    return word[1:]


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_boxes_of_words_are_on_the_page_as_it_is_shown(rotation: int) -> None:
    """The text is written so that it is upright in the middle of the turned page."""
    x0, top, x1, bottom = box_of(read_file(f"page-turned-by-{rotation}.pdf"), "Turned")
    assert pytest.approx(x0, abs=1) == 612 / 2 - 100
    assert 792 / 2 - 20 - bottom == pytest.approx(-0.21 * 12, abs=1)
    assert (x1 - x0, bottom - top) == pytest.approx((39, 11), abs=2)


def test_boxes_of_a_cropped_page_begin_at_its_corner() -> None:
    before, after = (
        box_of(read_file(name), "income") for name in ("bold-drawn-twice.pdf", "cropped.pdf")
    )
    assert (before[0] - after[0], before[1] - after[1]) == pytest.approx((50, 50), abs=0.1)


def test_a_quote_has_a_box_for_each_line_where_it_stands() -> None:
    lines = ["Before.", "The dividend per share", "rises to 1.20 euros."]
    document = read("pdf", pdf(["First page."], lines))
    [quote] = find_quotes(
        "It says: “the DIVIDEND per share rises to 1.20 euros” (page 2).", document
    )
    first, second = quote
    assert (first["text"], second["text"]) == ("The dividend per share", "rises to 1.20 euros.")
    assert page_of(quote) == first["page"] == 2
    word = document.pages[1].words[1]
    assert (first["x0"], first["top"], first["bottom"]) == (word.x0, word.top, word.bottom)
    assert (second["top"], first["x1"]) > (first["top"], first["x0"])


@pytest.mark.parametrize(
    ("answer", "quotes"),
    [
        ("", 0),
        ("sentence number 1 has", 0),
        ("sentence number 1 will have five words", 0),
        ("sentence number 1 has five words. And again: sentence number 1 has five words", 1),
        (". But: ".join(f"sentence number {one} has five words" for one in range(9)), 5),
    ],
)
def test_only_some_of_the_longer_quotes_have_a_box(answer: str, quotes: int) -> None:
    lines = [f"sentence number {number} has five words" for number in range(9)]
    assert len(find_quotes(answer, read("pdf", pdf(lines)))) == quotes
    assert find_quotes(answer, read("txt", "\n".join(lines).encode())) == ()


ENCODED = {
    "German": "Der Käse kostet fünf Euro. Die Größe der Bäume überrascht.\n",
    "French": "L'été dernier, les élèves ont mangé des crêpes à la crème brûlée.\n",
    "Spanish": "¿Qué pasó? El señor Muñoz compró más acciones.\n",
    "Swedish": "Räntorna steg i juni. Åsa köpte fler aktier på börsen.\n",
    "Polish": "Stopy wzrosły w czerwcu. Źródło: bank, żółć i gęś.\n",
    "Czech": "Sazby v červnu vzrostly. Příliš žluťoučký kůň úpěl ďábelské ódy.\n",
    "Turkish": "Merkez Bankası faizi yükseltti. Şirketlerin borçları çoğaldı, ışık.\n",  # its letters
    "Russian": "Ставки выросли в июне. Рынок ждёт решения банка.\n",
    "Greek": "Τα επιτόκια αυξήθηκαν τον Ιούνιο.\n",  # its letters
    "Arabic": "ارتفعت الأسعار في يونيو. السوق ينتظر قرار البنك.\n",
    "Chinese": "利率在六月上升。市场等待央行的决定。\n",
    "Japanese": "金利は六月に上昇した。市場は中央銀行の決定を待っている。\n",
    "Korean": "금리가 6월에 올랐다. 시장은 결정을 기다린다.\n",
}
SAVED_AS = [
    *((one, "cp1252") for one in ("German", "French", "Spanish", "Swedish")),
    *((one, "cp1250") for one in ("Polish", "Czech")),
    *(("Russian", one) for one in ("cp1251", "koi8_r", "cp866")),
    *(("Turkish", "cp1254"), ("Greek", "cp1253"), ("Arabic", "cp1256")),
    *(("Chinese", "gb18030"), ("Japanese", "cp932"), ("Korean", "cp949")),
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", ENCODED.values(), ids=ENCODED)
def test_unicode_is_read(encoding, text):
    assert decode_text(text.encode(encoding)) == (text, "")
    assert is_probably_text(text.encode(encoding))


@pytest.mark.parametrize(("language", "encoding"), SAVED_AS)
def test_older_encodings_are_guessed(language, encoding):
    data = ENCODED[language].encode(encoding) * 5
    text, note = decode_text(data)
    assert text == ENCODED[language] * 5
    assert language in ("German", "French", "Spanish") or note.startswith("[read as ")
    assert is_probably_text(data)


@pytest.mark.parametrize("text", ["Käse", "für", "Umsatz: 5 €\n", "“x”"])
def test_a_few_letters_are_those_of_windows(text):
    assert decode_text(text.encode("cp1252")) == (text, "")
    _, note = decode_text("São Paulo\n".encode("cp1252"))
    assert note == GUESSED.format(encoding="cp1252")


@pytest.mark.parametrize("language", ["German", "Chinese"])
def test_of_utf8_that_was_cut_or_patched_single_letters_are_damaged(language):
    text = ENCODED[language] * 10
    found, note = decode_text(text.encode()[:-2] + b"\xe4")
    assert note == DAMAGED.format(count=found.count("\ufffd"))
    assert found[: len(text) - 2] == text[:-2]


def test_a_long_text_is_known_by_the_lines_that_are_not_plain():
    rows = "day,price,name\n" + "Mon,1,plain\n" * 8_000
    text = rows + "Tue,2,Größe der Bäume in Köln\n" * 20 + rows
    assert decode_text(text.encode("cp1252"))[0] == text
    one_line = "x " * 50_000 + "Größe der Bäume in Köln " * 5
    assert decode_text(one_line.encode("cp1252"))[0] == one_line
    many = ENCODED["Russian"] * 2_000
    assert decode_text(many.encode("koi8_r"))[0] == many


@pytest.mark.parametrize("size", [60, 1_000, 100_000])
@pytest.mark.parametrize("seed", range(5))
def test_bytes_by_chance_are_no_text(size, seed):
    data = Random(seed).randbytes(size)
    with pytest.raises((UnreadableFile, ValueError)):
        decode_text(data)
    assert not is_probably_text(data)


def test_text_with_zeros_in_it_is_no_text():
    for data in (b"a\0b", b"plain text of some length, and then a zero\0.", b"\0" * 40):
        with pytest.raises(ValueError, match="binary"):
            decode_text(data)


def test_what_fits_no_encoding_is_told():
    with pytest.raises(UnreadableFile) as told:
        decode_text(b"\xff\x01\xfe\x02" * 20)
    assert told.value.public == UNKNOWN
