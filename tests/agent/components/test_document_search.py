"""Search in the files and widget data of a request."""

import json
from unicodedata import normalize

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.components.document_search import (
    MAX_CHARACTERS,
    MAX_WORDS,
    DocumentSearch,
    passages,
)
from copilot_admin.agent.components.inputs import DocumentOrigin, SourceDocument
from copilot_admin.agent.toolkits.ranking import ranked, scores, split_words, terms_of
from protocol.components import create_output, llm_text, merge

REPORT = SourceDocument(
    "Annual report.pdf",
    DocumentOrigin.FILE,
    (("page 1", "Revenue grew by 8%."), ("page 2", "Interest rates hurt margins.")),
)
PRICES = SourceDocument("Prices", DocumentOrigin.WIDGET, (("", '[{"symbol":"TSLA","close":251}]'),))
NOTE = SourceDocument("prices", DocumentOrigin.CONTEXT, (("", "Revenue of Tesla: see elsewhere."),))
ALL = (REPORT, PRICES, NOTE)
NOTHING_CAME = "This request came without files and widget data. Ask the user for them."
BEST = ["prices (2)", "Annual report.pdf, page 1"]


def file(*parts, name="Report"):
    labelled = tuple(("", part) if isinstance(part, str) else part for part in parts)
    return SourceDocument(name, DocumentOrigin.FILE, labelled)


def outputs(query="revenue", documents=ALL, names=()):
    return list(DocumentSearch().tool_eval(query, documents=names, _sys_documents=documents))


def texts(*parts):
    return [passage.text for passage in passages(file(*parts))]


def found(question, *documents):
    payloads = [one.content[0].text for one in outputs(question, documents)]
    return [one.content for one in payloads if hasattr(one, "content")]


def test_a_passage_is_a_reference_with_document_page_and_text():
    [output] = outputs("interest rate")
    score = output.content[0].text.extra["score"]
    assert score > 0
    reference = {
        "type": "doc",
        "id": 1,
        "doc_id": "Annual report.pdf",
        "title": "Annual report.pdf, page 2",
        "source": "file",
        "content": "Interest rates hurt margins.",
        "extra": {"score": score},
    }
    assert output == create_output("references", reference)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], BEST),
        (["annual  REPORT.pdf "], BEST[1:]),
        (["prices (2)", "Prices (2)"], BEST[:1]),
    ],
)
def test_the_best_passages_of_the_named_documents_come_first(names, expected):
    listed = outputs("revenue of tesla", names=names)
    assert [one.content[0].text.title for one in listed] == expected
    lines = llm_text(merge(listed).content).splitlines()
    assert [json.loads(line)["text"]["title"] for line in lines] == expected


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        (ALL, "There are: Annual report.pdf, Prices, prices (2)."),
        ((), NOTHING_CAME),
    ],
)
def test_an_unknown_document_is_an_error_that_lists_the_known_ones(known, sentence):
    with pytest.raises(ValueError) as caught:
        outputs(documents=known, names=["x"])
    assert str(caught.value) == f"There is no document 'x'. {sentence}"


def test_a_search_without_results_says_so():
    assert outputs("plutonium") == [
        create_output(
            "text",
            "Nothing was found: no passage has a word of the query. "
            "Searched: Annual report.pdf, Prices, prices (2).",
        )
    ]
    nothing = create_output("text", f"Nothing was searched. {NOTHING_CAME}")
    assert outputs("revenue", ()) == [*DocumentSearch().tool_eval("revenue")] == [nothing]


def test_every_document_has_a_name_of_its_own_on_one_line():
    odd = [file("gold", name=name) for name in ("a\n## b", " ", "document (2)", "")]
    titles = sorted(one.content[0].text.title for one in outputs("gold", odd))
    assert titles == ["a ## b", "document", "document (2)", "document (3)"]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("-- _ ?", []),
        ("Café CAFE", ["cafe", "cafe"]),
        ("the ﬁrst oﬃce", ["the", "first", "office"]),
        ("companies duties", ["company", "duty"]),
        ("status losses press", ["status", "losse", "press"]),
        ("its gas is", ["its", "gas", "is"]),
        ("３月", ["3", "月"]),
        ("4410¹ in", ["4410", "in"]),
        ("銀行口座", ["銀行", "行口", "口座"]),
        ("A株とB", ["a", "株と", "b"]),
        ("매출 증가", ["매출", "증가"]),
    ],
)
def test_words_are_compared_in_one_form(text, terms):
    assert [normalize("NFC", term) for term in terms_of(text)] == terms


def test_rare_words_count_more_and_equals_keep_their_order():
    among = ["market gold", "market silver", "market copper", "market copper"]
    assert ranked("market silver", among) == [1, 0, 2, 3]
    assert scores("market silver", among)[1] > scores("market", among)[1] > 0


@pytest.mark.parametrize("ending", [". ", '." ', "\n\n", "; ", "}, ", "],"])
def test_passages_end_with_a_sentence_or_a_row(ending):
    cut = texts(f"one two three four five six seven eight nine ten{ending}" * 40)
    assert [len(split_words(piece)) for piece in cut] == [150, 150, 100]
    assert all(piece.startswith("one") for piece in cut)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("word " * 1000, [150, 150, 150, 150, 150, 150, 100]),
        (",".join(map(str, range(500))), [150, 150, 150, 50]),
        ("a " * 120 + ". " + "b " * 100 + ". ", [120, 100]),
        (" \n ", []),
    ],
)
def test_long_texts_are_cut_between_words(text, words):
    assert [len(split_words(piece)) for piece in texts(text)] == words


@given(st.text(alphabet="ab .,;\n}。銀", max_size=6000))
def test_nothing_is_lost_and_every_passage_keeps_the_limits(text):
    cut = texts(text)
    assert "".join("".join(cut).split()) == "".join(text.split())
    assert all(len(piece) <= MAX_CHARACTERS for piece in cut)
    assert all(len(split_words(piece)) <= MAX_WORDS for piece in cut)


@pytest.mark.parametrize(
    ("question", "document", "expected"),
    [
        ("silver or gold", file("Gold is gold.", "Gold and silver."), ["Gold and silver.", "Gold is gold."]),
        ("What is the price of copper?", file("What is the state of our house?"), []),
        ("What is the?", file("What is the state?"), ["What is the state?"]),
        ("price of AAPL", file("1,2,3", name="AAPL prices"), ["1,2,3"]),
        ("page 4", file(("page 4", "x")), ["x"]),
        ("?!", file("Gold."), None),
    ],
)  # fmt: skip
def test_words_of_the_question_find_text_names_and_labels(question, document, expected):
    assert found(question, document) == (expected or [])
