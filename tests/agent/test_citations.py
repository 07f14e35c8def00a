"""What an answer cites: only what its data was, once each."""

from dataclasses import replace
from uuid import UUID

import pytest

from copilot_admin.agent.citations import (
    MAX_CITATIONS,
    NOT_ALL_CITED,
    cite_widgets,
    collect_citations,
)
from copilot_admin.agent.documents.document import Document, DocumentPage, Word
from copilot_admin.agent.files.reading import FileItem
from protocol.events import StatusLevel
from protocol.models import HumanMessage, SourceData, SourceError, WidgetParam, Widgets
from tests.agent.answer_requests import data, fetched_pair, make_query, make_widget, second_step

ANSWER = UUID(int=7)


def cited(query):
    return tuple(cite_widgets(query, answer_id=ANSWER))


def test_only_widgets_that_returned_data_in_this_turn_are_cited():
    old, good, failed, empty = (make_widget(number) for number in range(4))
    query = make_query(
        HumanMessage("before"),
        *fetched_pair([old], data("1")),
        HumanMessage("now"),
        *fetched_pair([good, failed, empty], data("1"), SourceError("e", ""), SourceData(())),
        widgets=Widgets(primary=(old, good, failed, empty)),
    )
    assert [one.source_info["name"] for one in cited(query)] == ["Prices 1"]


def test_same_data_fetched_twice_is_cited_once():
    widget = make_widget()
    query = make_query(
        HumanMessage("q"), *fetched_pair([widget], data("1")), *fetched_pair([widget], data("1"))
    )
    assert len(cited(query)) == 1


def file_item(name, text):
    """A PDF with one page, whose words have places."""
    words = tuple(
        Word(word, 10.0 * number, 10.0, 10.0 * number + 9, 20.0)
        for number, word in enumerate(text.split())
    )
    document = Document(name=name, pages=(DocumentPage(number=1, text=text, words=words),))
    return FileItem(content=text, data_format={"filename": name}, found=document)


def split_widget(value, **changes):
    param = WidgetParam(name="file", current_value=value, multi_select=True, split_on_citation=True)
    return make_widget(params=(replace(param, **changes),))


@pytest.mark.parametrize(
    ("widget", "files"),
    [
        (split_widget(["a.pdf", "b.pdf"]), ["a.pdf", "b.pdf"]),
        (split_widget(["a.pdf"]), [["a.pdf"]]),
        (split_widget("a.pdf"), ["a.pdf"]),
        (split_widget(["a.pdf", "b.pdf"], multi_select=False), [["a.pdf", "b.pdf"]]),
        (split_widget(["a.pdf", "b.pdf"], split_on_citation=False), [["a.pdf", "b.pdf"]]),
    ],
)
def test_a_parameter_that_is_split_has_a_citation_for_each_value(widget, files):
    found = cited(second_step(widget, data("1")))
    metadata = [one.source_info["metadata"] for one in found]
    assert metadata == [{"input_args": {"file": file}} for file in files]
    assert [one.details for one in found] == [
        ({"Name": "Prices 1", "file": file},) for file in files
    ]
    assert len({one.id for one in found}) == len(files)


def test_what_is_quoted_of_a_file_is_marked_in_the_citation_of_that_file():
    words = "The margin rose to nine percent of all revenue in the third quarter."
    items = tuple(file_item(name, text) for name, text in (("a.pdf", "Other."), ("b.pdf", words)))
    query = second_step(split_widget(["a.pdf", "b.pdf"]), SourceData(items))
    found = cite_widgets(query, answer_id=ANSWER, answer=f'It says: "{words}"')
    assert [bool(one.quote_bounding_boxes) for one in found] == [False, True]


EMPTY_CONTENTS = ("", " \n", "[ ]", "{}", "[\n  {}\n]", "null", '""')


@pytest.mark.parametrize("content", EMPTY_CONTENTS)
def test_a_source_that_had_nothing_or_may_not_be_cited_is_not(content):
    assert cited(second_step(make_widget(), data(content, content))) == ()
    assert len(cited(second_step(make_widget(), data(content, "0")))) == 1
    assert cited(second_step(make_widget(), data("0", citable=False))) == ()


def test_widget_that_is_no_longer_offered_is_cited_by_what_was_asked():
    query = make_query(HumanMessage("q"), *fetched_pair([make_widget(uuid=None)], data("1")))
    (citation,) = cited(query)
    assert citation.source_info == {
        "type": "widget",
        "origin": "OpenBB API",
        "widget_id": "prices_1",
        "name": "prices_1",
        "metadata": {"input_args": {"symbol": "SYM1"}},
        "citable": True,
    }


@pytest.mark.parametrize(("more", "warnings"), [(0, []), (1, [NOT_ALL_CITED])])
def test_of_very_many_sources_the_first_are_cited_and_the_user_is_told(more, warnings):
    widget = split_widget([f"{number}.pdf" for number in range(MAX_CITATIONS + more)])
    found = cite_widgets(second_step(widget, data("1")), answer_id=ANSWER)
    collection, *steps = collect_citations(found)
    assert len(collection.citations) == MAX_CITATIONS
    assert [(one.message, one.level) for one in steps] == [
        (w, StatusLevel.WARNING) for w in warnings
    ]
