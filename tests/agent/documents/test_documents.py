"""Files of every kind become pages of text, and broken ones a sentence."""

from dataclasses import replace
from itertools import count
import zlib

import pytest

from copilot_admin.agent.documents import formats, pdf_text, registry
from copilot_admin.agent.documents import pdf as pdf_module
from copilot_admin.agent.documents import pdf_text, registry
from copilot_admin.agent.documents.document import DocumentPage, UnreadableFile
from copilot_admin.agent.documents.registry import data_types, format_of, read_document
from copilot_admin.agent.files.quotes import page_of, quotes
from tests.agent.files.hostile_files import docx_with, pdf_with
from tests.agent.files.sample_files import SENTENCE, archive, docx, pdf, xls, xlsx

# Formats whose files take a program to write; the others have their samples with them.
WRITTEN = {
    "pdf": (pdf([SENTENCE]), f"[page 1]\n{SENTENCE}"),
    "xlsx": (
        xlsx({"Prices": [["day", "price"], ["Mon", 1.5], ["Tue", 2]], "Empty": []}),
        "[sheet Prices]\nday,price\nMon,1.5\nTue,2\n[sheet Empty]\n",
    ),
    "docx": (docx("One.", "Two.", table=[["a", "b"], ["1", "2"]]), "One.\nTwo.\na | b\n1 | 2"),
}
WRITTEN["xls"] = WRITTEN["xlsx"]  # what it really is shows in its first bytes
FORMATS = {kind: form for kind in sorted(data_types()) if (form := format_of(kind))}
FILES = WRITTEN | {
    kind: sample for form in FORMATS.values() for kind, sample in form.samples.items()
}


def read(kind, data, name="report"):
    return read_document(data, data_type=kind, name=name)


def told(kind, data):
    with pytest.raises(UnreadableFile) as refused:
        read(kind, data)
    return refused.value.public


def test_every_kind_has_a_sample():
    assert set(FILES) == data_types()
    assert {"pdf", "xlsx", "xls", "docx", "csv", "txt", "md", "html"} <= data_types()


@pytest.mark.parametrize("kind", sorted(FILES))
def test_every_kind_becomes_text(kind):
    data, text = FILES[kind]
    assert read(kind, data).text.rstrip() == text.rstrip()


@pytest.mark.parametrize("kind", [kind for kind, form in FORMATS.items() if not form.is_text])
@pytest.mark.parametrize(
    "data", [b"", b"nothing like it", archive({"a.txt": "x"}), FILES["pdf"][0][:200]]
)
def test_what_is_no_such_file_is_told(kind, data):
    assert told(kind, data).endswith(", or it is damaged. Attach it again.")


def test_binary_data_is_no_text():
    assert told("csv", b"a\0b") == "It is no text file, or it is damaged. Attach it again."


def test_a_file_without_text_is_told():
    assert told("pdf", pdf([])) == "It holds no text. A scan has to be recognised first."
    assert told("txt", b"  \n") == "It holds no text."


@pytest.mark.parametrize(("kind", "what"), [("docx", "document"), ("xlsx", "workbook")])
def test_a_locked_file_of_a_new_office_is_told(kind, what):
    locked = xls((0, 0), stream="EncryptedPackage")
    assert told(kind, locked) == f"The {what} is locked with a password. Attach one without."


def test_a_document_of_an_old_word_is_told():
    old = xls((0, 0), stream="WordDocument")
    assert told("docx", old) == "It is of an old Word. Save it as .docx and attach that."


def test_tables_in_tables_and_what_stands_in_content_controls_are_read():
    def control(inside):
        return f"<w:sdt><w:sdtContent>{inside}</w:sdtContent></w:sdt>"

    def cell(inside):
        return f"<w:tc>{inside}</w:tc>"

    def text(word):
        return f"<w:p><w:r><w:t>{word}</w:t></w:r></w:p>"

    inner = f"<w:tbl><w:tr>{cell(text('c'))}{control(cell(text('d')))}</w:tr></w:tbl>"
    row = f"<w:tr>{cell(text('a'))}{cell(text('b') + inner)}</w:tr>"
    table = f"<w:tbl>{row}{control(row.replace('>a<', '>e<'))}</w:tbl>"
    assert read("docx", docx_with(table)).text == "x\na | b\nc | d\ne | b\nc | d"


def test_a_locked_pdf_is_told():
    assert told("pdf", pdf([SENTENCE], encrypted=True)) == (
        "The PDF is locked with a password. Attach one without."
    )


def pdf_saying(claim):
    """A PDF of one page with something more in it."""
    return pdf([SENTENCE]) + f"\n9 0 obj\n<< {claim} >>\nendobj".encode()


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        ("/Type /Pages /Count 10001", "It has more than 10,000 pages. Attach a part of it."),
        ("/Length 99999", "It says that it is longer than it is. Attach it again."),
        ("/Length\n99999", "It says that it is longer than it is. Attach it again."),
        ("/Length 9999999999", "It says that it is longer than it is. Attach it again."),
    ],
)
def test_a_pdf_that_says_it_is_too_much_is_not_read(claim, why, monkeypatch):
    monkeypatch.delattr(pdf_module.pdfplumber, "open")
    assert told("pdf", pdf_saying(claim)) == why


@pytest.mark.parametrize(
    "claim",
    [
        "/Count 10000",
        "/Count -20000",
        "/Length 99999 0 R",
        "/Length 128",
        "/Lengths 99999",
        "/Length",
    ],
)
def test_a_pdf_that_claims_no_more_than_it_may_is_read(claim):
    assert read("pdf", pdf_saying(claim)).text == f"[page 1]\n{SENTENCE}"


def test_a_page_for_which_the_memory_does_not_suffice_is_not_called_damaged(monkeypatch):
    def refused(*_, **__):
        raise MemoryError

    monkeypatch.setattr(pdf_module.pdfplumber.page.PDFPageInterpreter, "process_page", refused)
    with pytest.raises(MemoryError):
        read("pdf", pdf([SENTENCE]))


def test_of_a_page_with_too_many_characters_the_first_are_read_and_it_says_so(monkeypatch):
    monkeypatch.setattr(pdf_text, "MOST_ON_PAGE", 7)
    document = read("pdf", pdf(["one two"], ["three four"], ["five"]))
    said = "[page 2: only the first 7 characters were read]"
    assert document.text == f"[page 1]\none two\n[page 2]\nthree f\n[page 3]\nfive\n{said}"
    assert [word.text for word in document.pages[1].words] == ["three", "f"]


def test_a_page_may_end_within_a_figure(monkeypatch):
    def enough(device, *args):
        device.begin_figure("F", (0, 0, 9, 9), (1, 0, 0, 1, 0, 0))
        raise pdf_text._Enough

    monkeypatch.setattr(pdf_text._Characters, "render_string", enough)
    assert told("pdf", pdf([SENTENCE])).startswith("It holds no text.")


def test_what_is_drawn_on_a_page_costs_nothing_and_takes_no_text(monkeypatch):
    drawn = (
        b"0 0 m 9 9 l S 5 5 30 30 re f BT /F1 8 Tf 72 720 Td (hello) Tj ET 1 1 m 2 2 3 3 4 4 c S"
    )
    seen = []

    def lay_out(page):
        note = pdf_text.lay_out(page)
        seen.extend(page.layout)
        return note

    monkeypatch.setattr(pdf_module, "lay_out", lay_out)
    assert read("pdf", pdf_with(zlib.compress(drawn))).text == "[page 1]\nhello"
    assert [one.get_text() for one in seen] == list("hello")


def test_an_archive_that_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(formats, "MOST_UNPACKED", 1000)
    for kind in ("docx", "xlsx"):
        assert "more than 200 MB" in told(kind, FILES[kind][0])


def test_pages_are_numbered_and_the_rest_of_a_long_file_is_left_out(monkeypatch):
    data = pdf(["one"], ["two"], ["three"])
    assert read("pdf", data).text == "[page 1]\none\n[page 2]\ntwo\n[page 3]\nthree"
    monkeypatch.setattr(registry, "MOST_PAGES", 2)
    assert read("pdf", data).text.endswith(
        "two\n[only the first 2 pages were read; the file has more]"
    )
    monkeypatch.setattr(registry, "MOST_PAGES", 300)
    monkeypatch.setattr(registry, "MOST_CHARACTERS", 4)
    assert read("pdf", data).text.endswith(
        "[page 2]\nt\n[only the first 4 characters were read: too much text]"
    )


def test_what_is_left_out_of_a_workbook_is_told_in_sheets(monkeypatch):
    data = xlsx({"A": [["one"]], "B": [["two"]], "C": [["three"]]})
    for most, told_of in (
        (2, "only the first 2 sheets were read"),
        (1, "only the first sheet was"),
    ):
        monkeypatch.setattr(registry, "MOST_PAGES", most)
        assert told_of in read("xlsx", data).left_out
    sheets = [DocumentPage(number=n, name="A", text="", note="[a note]") for n in range(12)]
    assert registry.build_document(sheets, name="A").left_out.endswith(
        "; 2 more sheets are incomplete]"
    )


def test_a_page_that_is_damaged_costs_none_of_the_others():
    font = b"/Subtype /Type1"
    first, second, third, rest = pdf(["one"], ["two"], ["three"]).split(font)
    data = first + font + second + b"/Subtype /Type0" + third + font + rest
    assert read("pdf", data).text == (
        "[page 1]\none\n[page 2]\n\n[page 3]\nthree\n[page 2: it could not be read]"
    )
    assert "It is no PDF, or it is damaged." in told(
        "pdf", pdf(["one"]).replace(font, font[:-1] + b"0")
    )


def test_of_many_pages_with_a_note_the_others_are_counted():
    pages = [DocumentPage(number=n, text="", note=f"[page {n}: a note]") for n in range(1, 16)]
    left_out = registry.build_document(pages, name="report").left_out
    assert left_out.startswith("[page 1: a note; page 2: a note; ")
    assert left_out.endswith("; page 10: a note; 5 more pages are incomplete]")
    assert registry.build_document(pages[:10], name="report").left_out.endswith("page 10: a note]")


def test_what_breaks_behind_some_text_costs_none_of_it(monkeypatch):
    def breaking(data):
        yield DocumentPage(number=1, text="one")
        raise ValueError

    monkeypatch.setattr(registry, "FORMATS", (replace(FORMATS["pdf"], read=breaking),))
    assert read("pdf", b"").text == "one\n[only the first page was read: what follows is damaged]"


def test_more_words_than_are_placed_are_text_all_the_same(monkeypatch):
    monkeypatch.setattr(registry, "MOST_WORDS", 3)
    first, second, third = read("pdf", pdf(["one two"], ["three four"], ["five"])).pages
    assert [len(page.words) for page in (first, second, third)] == [2, 0, 1]
    assert second.text == "three four"


def test_words_of_a_text_that_is_cut_have_no_places(monkeypatch):
    monkeypatch.setattr(registry, "MOST_CHARACTERS", 8)
    [page] = read("pdf", pdf(["one longword"])).pages
    assert (page.text, page.words) == ("one long", ())


def test_the_name_of_a_sheet_is_no_way_around_the_bounds_of_a_text():
    [page] = read("xlsx", xlsx({"N" * 1_000_000: [["x"]]})).pages
    assert (page.name, page.text) == ("N" * registry.LONGEST_NAME, "x")


def test_a_file_that_takes_too_long_is_read_as_far_as_it_goes(monkeypatch):
    clock = count()
    monkeypatch.setattr(registry.time, "process_time", lambda: next(clock) * 6.0)
    assert "only the first 2 pages" in read("pdf", pdf(["one"], ["two"], ["three"])).text


# What an answer quotes


def test_a_quote_has_a_box_for_each_line_where_it_stands():
    document = read(
        "pdf", pdf(["First page."], ["Before.", "The dividend per share", "rises to 1.20 euros."])
    )
    [quote] = quotes("It says: “the DIVIDEND per share rises to 1.20 euros” (page 2).", document)
    first, second = quote
    assert (first["text"], second["text"]) == ("The dividend per share", "rises to 1.20 euros.")
    assert page_of(quote) == first["page"] == 2
    word = document.pages[1].words[1]
    assert (first["x0"], first["top"], first["bottom"]) == (word.x0, word.top, word.bottom)
    assert first["x1"] > first["x0"]
    assert second["top"] > first["top"]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The dividend rises.",
        "The dividend of a share will rise to 1.20 euros",
        "rises to 1.20 euros",
    ],
)
def test_what_is_said_in_other_words_or_too_short_has_no_box(answer):
    document = read("pdf", pdf(["The dividend per share", "rises to 1.20 euros."]))
    assert quotes(answer, document) == ()


def test_the_same_quote_is_marked_once_and_only_the_first_five_of_many():
    lines = [f"sentence number {number} has five words" for number in range(9)]
    document = read("pdf", pdf(lines))
    assert len(quotes(f"{lines[0]}. And again: {lines[0]}", document)) == 1
    assert len(quotes(". But: ".join(lines), document)) == 5


def test_a_file_without_places_has_no_boxes():
    assert quotes("one two three four five", read("txt", b"one two three four five")) == ()
