"""The search in the files and widget data of a request."""

import asyncio
import doctest
import json

import pytest

from copilot_admin.agent.components import document_search
from copilot_admin.agent.components.document_search import LONGEST_QUERY, DocumentSearch
from copilot_admin.agent.components.inputs import DocumentOrigin, SourceDocument
from copilot_admin.agent.components.registry import registry
from copilot_admin.agent.components.runs import check_arguments
from copilot_admin.errors import BadArguments
from protocol.components import (
    ContentType,
    VisibleScope,
    create_output,
    llm_text,
    merge,
    static_findings,
)
from protocol.components.contract import outputs_are_json

REPORT = SourceDocument(
    "Annual report.pdf",
    DocumentOrigin.FILE,
    (("page 1", "Revenue grew by 8%."), ("page 2", "Interest rates hurt margins.")),
)
PRICES = SourceDocument("Prices", DocumentOrigin.WIDGET, (("", '[{"symbol":"TSLA","close":251}]'),))
NOTE = SourceDocument("prices", DocumentOrigin.CONTEXT, (("", "Revenue of Tesla: see elsewhere."),))
ALL = (REPORT, PRICES, NOTE)


def outputs(query="revenue", documents=ALL, **inputs):
    return list(DocumentSearch().tool_eval(query, **inputs, _sys_documents=documents))


def titles(*args, **inputs):
    return [one.content[0].text.title for one in outputs(*args, **inputs)]


def only_text(*args, **inputs):
    (output,) = outputs(*args, **inputs)
    assert output.content[0].type is ContentType.TEXT
    return output.content[0].text.info


def test_it_keeps_the_contract_with_documents_and_without():
    assert static_findings(DocumentSearch) == ()
    assert registry().find("document_search") is DocumentSearch
    for sample in DocumentSearch.samples:
        check_arguments(DocumentSearch, sample)
        for documents in (ALL, ()):
            given = list(DocumentSearch().tool_eval(**sample, _sys_documents=documents))
            assert list(outputs_are_json(DocumentSearch, given)) == []
        assert list(DocumentSearch().tool_eval(**sample)) == given


def test_the_examples_of_its_docstrings_are_true():
    assert doctest.testmod(document_search)[:] == (0, 4)


def test_its_name_and_parameters_are_those_of_the_interface():
    assert DocumentSearch.tool_name() == ["document_search"]
    parameters = DocumentSearch.parameters()
    assert list(parameters["properties"]) == ["query", "documents", "top_k"]
    assert parameters["required"] == ["query"]
    assert parameters["properties"]["documents"]["type"] == "array"
    assert (
        parameters["properties"]["top_k"]["minimum"],
        parameters["properties"]["top_k"]["maximum"],
    ) == (1, 20)


def test_a_passage_is_a_reference_with_document_page_and_text_for_user_and_model():
    (output,) = outputs("interest rate")
    (content,) = output.content
    payload = content.text.model_dump()
    score = payload["extra"]["score"]
    assert score > 0
    assert output == create_output(
        "references",
        {
            "type": "doc",
            "id": 1,
            "doc_id": "Annual report.pdf",
            "title": "Annual report.pdf, page 2",
            "source": "file",
            "content": "Interest rates hurt margins.",
            "extra": {"score": score},
        },
    )
    assert content.visible_scope is VisibleScope.ALL


def test_the_best_passages_come_first_and_are_numbered():
    given = outputs("revenue of tesla")
    assert [one.content[0].text.id for one in given] == [1, 2]
    assert [one.content[0].text.title for one in given] == [
        "prices (2)",
        "Annual report.pdf, page 1",
    ]
    assert [one.content[0].text.source for one in given] == ["context", "file"]


def test_the_model_reads_every_passage_on_a_line_of_json():
    lines = llm_text(merge(outputs("revenue")).content).splitlines()
    assert [json.loads(line)["text"]["title"] for line in lines] == [
        "prices (2)",
        "Annual report.pdf, page 1",
    ]


def test_no_more_passages_than_wanted():
    assert len(titles("revenue", top_k=1)) == 1
    many = SourceDocument("Many", DocumentOrigin.FILE, tuple(("", "gold") for _ in range(30)))
    assert len(titles("gold", [many])) == 5
    assert len(titles("gold", [many], top_k=20)) == 20


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ((), ["prices (2)", "Annual report.pdf, page 1"]),
        ([], ["prices (2)", "Annual report.pdf, page 1"]),
        (None, ["prices (2)", "Annual report.pdf, page 1"]),
        (["annual  REPORT.pdf "], ["Annual report.pdf, page 1"]),
        ("prices (2)", ["prices (2)"]),
        (["prices (2)", "Prices (2)"], ["prices (2)"]),
    ],
)
def test_only_the_named_documents_are_searched(names, found):
    by_name = list(DocumentSearch().tool_eval("revenue", documents=names, _sys_documents=ALL))
    assert [one.content[0].text.title for one in by_name] == found


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        (ALL, "There is no document 'x'. There are: Annual report.pdf, Prices, prices (2)."),
        (
            (),
            "There is no document 'x'. This request came without files and widget data. "
            "Ask the user for them.",
        ),
    ],
)
def test_an_unknown_document_is_an_error_that_lists_those_there_are(known, sentence):
    search = DocumentSearch().tool_eval("revenue", documents=["x", "Prices"], _sys_documents=known)
    with pytest.raises(ValueError) as caught:
        next(search)
    assert str(caught.value) == sentence


def test_that_nothing_is_found_is_said_with_what_was_searched():
    assert only_text("plutonium") == (
        "Nothing was found: no passage has a word of the query. "
        "Searched: Annual report.pdf, Prices, prices (2)."
    )
    assert only_text("plutonium", [REPORT]).endswith("Searched: Annual report.pdf.")


def test_that_there_is_nothing_to_search_is_said():
    sentence = (
        "Nothing was searched. This request came without files and widget data. "
        "Ask the user for them."
    )
    assert only_text("revenue", ()) == sentence
    (output,) = DocumentSearch().tool_eval("revenue")
    assert output == create_output("text", sentence)


@pytest.mark.parametrize("query", ["", " \n", None])
def test_an_empty_query_is_an_error(query):
    with pytest.raises(ValueError, match="There is nothing to search for"):
        outputs(query)


def test_a_query_may_be_long_but_not_endless():
    assert titles("revenue ".ljust(LONGEST_QUERY)) == titles("revenue")
    with pytest.raises(ValueError, match="longer than 10000 characters"):
        outputs("x" * (LONGEST_QUERY + 1))


@pytest.mark.parametrize("top_k", [0, -1, 21, True, 2.0, "3", None])
def test_a_number_of_passages_out_of_bounds_is_an_error(top_k):
    with pytest.raises(ValueError, match="top_k must be a whole number from 1 to 20, not"):
        outputs(top_k=top_k)


@pytest.mark.parametrize(
    "arguments",
    [{"query": 1}, {}, {"query": "x", "top_k": 0}, {"query": "x", "documents": "y"}],
)
def test_the_manifest_refuses_what_the_component_would(arguments):
    with pytest.raises(BadArguments):
        check_arguments(DocumentSearch, arguments)


def test_names_stay_on_one_line_and_a_document_without_one_gets_one():
    odd = [
        SourceDocument("a\n## b", DocumentOrigin.FILE, (("", "gold"),)),
        SourceDocument(" ", DocumentOrigin.WIDGET, (("", "gold"),)),
        SourceDocument("document (2)", DocumentOrigin.WIDGET, (("", "gold"),)),
        SourceDocument("", DocumentOrigin.WIDGET, (("", "gold"),)),
    ]
    assert sorted(titles("gold", odd)) == [
        "a ## b",
        "document",
        "document (2)",
        "document (3)",
    ]


def test_it_does_not_block_the_event_loop():
    async def collected():
        return await DocumentSearch().non_stream_tool_eval(query="tsla", _sys_documents=ALL)

    assert asyncio.run(collected()).content[0].text.title == "Prices"
