"""Limits of documents, notes on what was left out, and places of quotes."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
import time

import pikepdf
import pytest

from copilot_admin.agent.documents import office, registry
from copilot_admin.agent.documents import pdf as pdf_module
from copilot_admin.agent.documents.document import (
    Document,
    DocumentPage,
    UnreadableFile,
    build_document,
)
from copilot_admin.agent.documents.registry import format_of
from copilot_admin.agent.files.quotes import find_quotes, page_of
from tests.agent.documents.corpus.case import read_document
from tests.agent.documents.corpus.pdf import bold_twice, changed, draw, landscape, scan
from tests.agent.documents.corpus.spreadsheets import write_xlsx
from tests.agent.files.hostile_files import docx_with
from tests.agent.files.sample_files import pdf


def read(kind: str, data: bytes, name: str = "report") -> Document:
    return read_document(data, data_type=kind, name=name)


def read_error(kind: str, data: bytes) -> str:
    with pytest.raises(UnreadableFile) as error:
        read(kind, data)
    return error.value.public


def test_tables_in_tables_and_content_controls_are_read() -> None:
    def control(inside: str) -> str:
        return f"<w:sdt><w:sdtContent>{inside}</w:sdtContent></w:sdt>"

    def cell(inside: str) -> str:
        return f"<w:tc>{inside}</w:tc>"

    def text(word: str) -> str:
        return f"<w:p><w:r><w:t>{word}</w:t></w:r></w:p>"

    inner = f"<w:tbl><w:tr>{cell(text('c'))}{control(cell(text('d')))}</w:tr></w:tbl>"
    row = f"<w:tr>{cell(text('a'))}{cell(text('b') + inner)}</w:tr>"
    table = f"<w:tbl>{row}{control(row.replace('>a<', '>e<'))}</w:tbl>"
    assert read("docx", docx_with(table)).text == "x\na | b c | d\ne | b c | d"


def test_an_archive_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "MAX_UNPACKED_BYTES", 1000)
    assert "more than 200 MB" in read_error("xlsx", write_xlsx({"A": [["x"]]}))
    assert "more than 200 MB" in read_error("docx", docx_with(""))


def test_a_page_with_too_many_characters_is_cut_with_a_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pdf_module, "MAX_CHARACTERS", 7)
    document = read("pdf", pdf(["one two"], ["three four"], ["five"]))
    note = "[page 2: only the first 7 characters were read]"
    assert document.text == f"[page 1]\none two\n[page 2]\nthree f\n[page 3]\nfive\n{note}"
    assert [word.text for word in document.pages[1].words] == ["three", "f"]


@pytest.mark.parametrize(
    ("limit", "value", "end"),
    [
        ("MAX_PAGES", 2, "two\n[only the first 2 pages were read; the file has more]"),
        (
            "MAX_CHARACTERS",
            4,
            "[page 2]\nt\n[only the first 4 characters were read: too much text]",
        ),
    ],
)
def test_the_rest_of_a_long_file_is_left_out(
    limit: str, value: int, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = pdf(["one"], ["two"], ["three"])
    assert read("pdf", data).text == "[page 1]\none\n[page 2]\ntwo\n[page 3]\nthree"
    monkeypatch.setattr(registry, limit, value)
    assert read("pdf", data).text.endswith(end)


def test_a_file_that_breaks_behind_some_text_has_that_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def read_broken(data: bytes) -> Iterator[DocumentPage]:
        yield DocumentPage(number=1, text="one")
        raise ValueError

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
    parts = list(registry.parts_of(draw(scan)(), data_type="pdf", pictures=True))
    document = build_document(parts, name="scan")
    assert [bool(page.picture) for page in document.pages] == [False, True]
    assert document.pages[1].picture.startswith("data:image/jpeg;base64,")
    assert "which you are shown" in document.left_out


# Places of quotes


def box_of(document: Document, text: str) -> tuple[float, float, float, float]:
    [word] = [one for page in document.pages for one in page.words if one.text == text]
    return word.x0, word.top, word.x1, word.bottom


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_boxes_of_words_are_on_the_page_as_it_is_shown(rotation: int) -> None:
    """The text is written so that it is upright in the middle of the turned page."""
    document = read("pdf", draw(landscape(rotation))())
    x0, top, x1, bottom = box_of(document, "Turned")
    assert pytest.approx(x0, abs=1) == 612 / 2 - 100
    assert 792 / 2 - 20 - bottom == pytest.approx(-0.21 * 12, abs=1)
    assert (x1 - x0, bottom - top) == pytest.approx((39, 11), abs=2)


def test_boxes_of_a_cropped_page_begin_at_its_corner() -> None:
    def crop(document: pikepdf.Pdf) -> None:
        document.pages[0].CropBox = [50, 50, 562, 742]

    whole, cropped = (
        read("pdf", build()) for build in (draw(bold_twice), changed(draw(bold_twice), crop))
    )
    before, after = box_of(whole, "income"), box_of(cropped, "income")
    assert (before[0] - after[0], before[1] - after[1]) == pytest.approx((50, 50), abs=0.1)


def test_a_quote_has_a_box_for_each_line_where_it_stands():
    document = read(
        "pdf", pdf(["First page."], ["Before.", "The dividend per share", "rises to 1.20 euros."])
    )
    [quote] = find_quotes(
        "It says: “the DIVIDEND per share rises to 1.20 euros” (page 2).", document
    )
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
    assert find_quotes(answer, document) == ()


def test_the_same_quote_is_marked_once_and_only_the_first_five_of_many():
    lines = [f"sentence number {number} has five words" for number in range(9)]
    document = read("pdf", pdf(lines))
    assert len(find_quotes(f"{lines[0]}. And again: {lines[0]}", document)) == 1
    assert len(find_quotes(". But: ".join(lines), document)) == 5


def test_a_file_without_places_has_no_boxes():
    assert find_quotes("one two three four five", read("txt", b"one two three four five")) == ()
