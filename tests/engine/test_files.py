"""The files of a query are read once, and what cannot be read is said to model and user."""

import asyncio

import pytest

from copilot_admin.engine import files
from copilot_admin.engine.egress import FetchFailed
from copilot_admin.engine.files import FileItem, with_files_read
from copilot_admin.engine.spec import CitationMode
from protocol.events import CitationCollection, MessageChunk, StatusLevel, StatusUpdate
from protocol.messages import (
    DataItem,
    FileReference,
    HumanMessage,
    ResultMessage,
    SourceData,
    SourceError,
)
from protocol.query import ContextItem
from protocol.widgets import Widgets
from tests.engine.asks import make_ask, make_query, make_spec, make_widget, outputs_of
from tests.engine.sample_files import SENTENCE, base64, pdf
from tests.engine.scripted import ScriptedProvider, text

FORM = {"data_type": "pdf", "filename": "report.pdf"}
REPORT = base64(pdf([SENTENCE]))
ARGUMENTS = {"data_sources": [{"widget_uuid": "w-1", "origin": "o", "id": "i", "input_args": {}}]}


def item(content=REPORT, **changes):
    return DataItem(content=content, data_format={**FORM, **changes})


def link(url="https://files/report.pdf"):
    return FileReference(url=url, data_format=FORM)


def result(*items):
    return ResultMessage(
        "get_widget_data", ARGUMENTS, (SourceData(tuple(items)), SourceError("e", "c"))
    )


async def nowhere(url):
    raise FetchFailed("The link has expired.")


def read(*items, fetch=nowhere, **query):
    asked = make_query(HumanMessage("q"), result(*items), **query)
    found, problems = asyncio.run(with_files_read(asked, fetch=fetch))
    return found.messages[1].data[0].items, problems


def test_a_file_in_base64_becomes_text_with_its_document():
    for content in (
        REPORT,
        f"data:application/pdf;base64,{REPORT}",
        REPORT[:40] + "\n" + REPORT[40:],
    ):
        [found], problems = read(item(content))
        assert isinstance(found, FileItem)
        assert found.content == f"[page 1]\n{SENTENCE}"
        assert found.data_format == {
            "data_type": "object",
            "parse_as": "text",
            "filename": "report.pdf",
        }
        assert problems == ()


def test_a_link_is_fetched_once_however_often_it_is_repeated():
    urls = []

    async def fetch(url):
        urls.append(url)
        return pdf([SENTENCE])

    found, _ = read(link(), link(), fetch=fetch)
    assert [one.content for one in found] == [f"[page 1]\n{SENTENCE}"] * 2
    assert urls == ["https://files/report.pdf"]


def test_what_cannot_be_read_is_a_sentence_in_its_place():
    found, problems = read(link(), link(), item("bm90IGEgUERG" * 4), item("%%%"))
    sentences = (
        "The file 'report.pdf' could not be read. The link has expired.",
        "The file 'report.pdf' could not be read. The file 'report.pdf' is no PDF, or it is "
        "damaged. Attach it again.",
        "The file 'report.pdf' could not be read. Its content is no base64.",
    )
    assert problems == sentences
    assert [one.content for one in found] == [
        f"[{one}]" for one in (sentences[0], sentences[0], *sentences[1:])
    ]
    assert not any(one.citable for one in found)


def test_files_that_are_text_may_come_as_they_are_or_in_base64():
    rows = "day,price\nMon,1\nTue,2\nWed,3"
    plain, encoded, short = (
        item(rows, data_type="csv"),
        item(base64(rows.encode()), data_type="csv"),
        item("data", data_type="txt"),
    )
    found, _ = read(plain, encoded, short, item("x", data_type="object"))
    assert [one.content for one in found] == [rows, rows, "data", "x"]
    assert [isinstance(one, FileItem) for one in found] == [False, True, False, False]
    [binary], _ = read(item(base64(b"\xff\xfe\x00" * 20), data_type="csv"))
    assert not isinstance(binary, FileItem)


def test_files_of_the_context_are_read_too():
    asked = make_query(context=(ContextItem(name="Report", data=SourceData((item(),))),))
    found, _ = asyncio.run(with_files_read(asked, fetch=nowhere))
    assert found.context[0].data.items[0].content == f"[page 1]\n{SENTENCE}"


def test_a_question_without_files_is_left_alone():
    asked = make_query()
    assert asyncio.run(with_files_read(asked, fetch=nowhere)) == (asked, ())


def test_too_many_and_too_large_files_are_told(monkeypatch):
    monkeypatch.setattr(files, "MOST_FILES", 1)
    _, problems = read(item(), item(base64(pdf(["other"]))))
    assert problems == (
        "The file 'report.pdf' could not be read. 1 other files were read already.",
    )
    monkeypatch.setattr(files, "MOST_BYTES", 10)
    _, problems = read(item())
    assert "It is larger than" in problems[0]


def answered(*items, answer, citations=CitationMode.DOCUMENTS):
    query = make_query(HumanMessage("q"), result(*items), widgets=Widgets(primary=(make_widget(),)))
    with ScriptedProvider([text(answer)]) as provider:
        outputs = outputs_of(make_ask(provider, query=query, spec=make_spec(citations=citations)))
    return outputs, provider


def test_a_quote_of_a_document_is_cited_with_its_page_and_boxes():
    outputs, provider = answered(item(), answer=f"It says: “{SENTENCE}”")
    [cited] = [one for one in outputs if isinstance(one, CitationCollection)]
    [citation] = cited.citations
    assert citation.details[0]["Page"] == "1"
    [[box]] = citation.quote_bounding_boxes
    assert (box["text"], box["page"]) == (SENTENCE, 1)
    assert SENTENCE in provider.calls[0].messages[-1].text


@pytest.mark.parametrize(
    ("answer", "citations"),
    [("In other words.", CitationMode.DOCUMENTS), (SENTENCE, CitationMode.WIDGETS)],
)
def test_without_a_quote_the_document_is_cited_without_boxes(answer, citations):
    outputs, _ = answered(item(), answer=answer, citations=citations)
    [cited] = [one for one in outputs if isinstance(one, CitationCollection)]
    assert cited.citations[0].quote_bounding_boxes == ()


def test_a_file_that_cannot_be_read_is_said_to_the_user_before_the_answer():
    outputs, provider = answered(link(), answer="I could not read it.", citations=CitationMode.OFF)
    sentence = "The file 'report.pdf' could not be read. Links are not followed here."
    assert outputs[:2] == [
        StatusUpdate(message=sentence, level=StatusLevel.WARNING),
        MessageChunk("I could not read it."),
    ]
    assert sentence in provider.calls[0].messages[-1].text
