"""Passages of documents, and the search among them."""

import doctest
from unicodedata import normalize

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.components import passages as module
from copilot_admin.agent.components.inputs import DocumentOrigin, SourceDocument
from copilot_admin.agent.components.passages import (
    FEWEST_WORDS,
    MOST_CHARACTERS,
    MOST_WORDS,
    Passage,
    PassageHit,
    passages,
    search,
)
from copilot_admin.agent.toolkits import ranking
from copilot_admin.agent.toolkits.ranking import ranked, scores, terms_of, words_of


def document(*parts, name="Report"):
    labelled = tuple(("", part) if isinstance(part, str) else part for part in parts)
    return SourceDocument(name, DocumentOrigin.FILE, labelled)


def texts(*parts):
    return [passage.text for passage in passages(document(*parts))]


def found(question, *documents, most=5):
    return [hit.passage.text for hit in search(question, documents, most=most)]


@pytest.mark.parametrize(("checked", "examples"), [(module, 3), (ranking, 2)])
def test_the_examples_of_the_docstrings_are_true(checked, examples):
    assert doctest.testmod(checked)[:] == (0, examples)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("-- _ ?", []),
        ("Café CAFE", ["cafe", "cafe"]),
        ("the ﬁrst oﬃce", ["the", "first", "office"]),
        ("companies duties", ["company", "duty"]),
        ("zombieies aies", ["zombieie", "aie"]),
        ("status losses press", ["status", "losse", "press"]),
        ("its gas is", ["its", "gas", "is"]),
        ("３月", ["3", "月"]),
        ("銀", ["銀"]),
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


@given(st.lists(st.text(max_size=40), max_size=5), st.text(max_size=40))
def test_scores_are_never_negative_and_only_shared_words_give_any(among, question):
    for text, score in zip(among, scores(question, among), strict=True):
        assert (score > 0) == bool(set(terms_of(text)) & set(terms_of(question)))


@pytest.mark.parametrize("parts", [(), ("",), (" \n ",), ("", "\n")])
def test_a_document_without_text_has_no_passages(parts):
    assert texts(*parts) == []


def test_a_short_text_is_one_passage_with_its_label():
    short = document(("page 1", " Sales rose. Costs fell.\n"), ("", "Done."))
    assert list(passages(short)) == [
        Passage("Report", "page 1", "Sales rose. Costs fell."),
        Passage("Report", "", "Done."),
    ]


@pytest.mark.parametrize("ending", [". ", "! ", '." ', "\n", "\n\n", "; ", "}, ", "},", "],"])
def test_passages_end_where_a_sentence_or_a_row_does(ending):
    unit = "one two three four five six seven eight nine ten" + ending
    cut = texts(unit * 40)
    assert len(cut) == 3
    assert all(len(words_of(piece)) in (100, FEWEST_WORDS) for piece in cut)
    assert all(piece.startswith("one") for piece in cut)


def test_chinese_sentences_end_a_passage():
    cut = texts("收入增长。" * 400)
    assert len(cut) > 1
    assert all(piece.endswith("。") for piece in cut)


def test_a_sentence_without_an_end_is_cut_between_words():
    cut = texts("word " * 1000)
    assert [len(words_of(piece)) for piece in cut] == [150, 150, 150, 150, 150, 150, 100]


def test_numbers_without_blanks_are_cut_between_commas():
    cut = texts(",".join(str(number) for number in range(500)))
    assert len(cut) == 4
    assert cut[0].startswith("0,1,2,")
    assert cut[1].startswith("150,")


def test_a_text_without_any_boundary_is_cut_after_so_many_characters():
    assert [len(piece) for piece in texts("x" * (2 * MOST_CHARACTERS + 1))] == [1600, 1600, 1]


def test_a_sentence_that_would_make_a_passage_too_long_begins_the_next():
    first, second = "a " * 120 + ". ", "b " * 100 + ". "
    assert [len(words_of(piece)) for piece in texts(first + second)] == [120, 100]


@given(st.text(alphabet="ab .,;\n}。銀", max_size=6000))
def test_nothing_is_lost_and_every_passage_keeps_the_limits(text):
    cut = texts(text)
    assert "".join("".join(cut).split()) == "".join(text.split())
    assert all(len(piece) <= MOST_CHARACTERS for piece in cut)
    assert all(len(words_of(piece)) <= MOST_WORDS for piece in cut)


def test_the_best_passage_comes_first_and_no_more_than_wanted():
    one = document(("page 1", "Gold is gold."), ("page 2", "Gold and silver."), ("page 3", "Tin."))
    assert found("silver or gold", one) == ["Gold and silver.", "Gold is gold."]
    assert found("silver or gold", one, most=1) == ["Gold and silver."]


def test_a_hit_says_where_it_was_found():
    hits = search("tin", [document("Gold."), document(("page 9", "Tin."), name="Annex")], most=5)
    assert hits == (PassageHit(Passage("Annex", "page 9", "Tin."), hits[0].score),)
    assert hits[0].score > 0


@pytest.mark.parametrize("question", ["copper", "", "?!", "what is the", "x" * 1000])
def test_what_stands_nowhere_is_not_found(question):
    assert found(question, document("Gold went up.")) == []


def test_words_that_only_hold_the_question_together_find_nothing():
    one = document("What is the state of our house?")
    assert found("What is the price of copper?", one) == []
    assert found("What is the?", one) == ["What is the state of our house?"]


def test_the_name_of_a_document_and_the_label_of_a_page_count():
    prices, news = document("1,2,3", name="AAPL prices"), document(("page 4", "x"), name="News")
    assert found("price of AAPL", prices, news) == ["1,2,3"]
    assert found("page 4", prices, news) == ["x"]


def test_no_documents_are_searched_without_a_fault():
    assert search("gold", [], most=5) == ()
