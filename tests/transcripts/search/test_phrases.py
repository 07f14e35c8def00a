"""What somebody typed to find conversations."""

from uuid import UUID

import pytest

from copilot_admin.transcripts.search.phrases import (
    MOST_PHRASES,
    MOST_TYPED,
    Typed,
    has_trigram,
    read_typed,
)


def test_words_and_phrases_in_any_quotation_marks_are_told_apart():
    typed = read_typed(' Bonds "net  Asset value" «Курс рубля» „Zins“ bonds ')
    assert typed.phrases == ("bonds", "net asset value", "курс рубля", "zins")


def test_an_id_is_known_by_its_form():
    run = "0b0f6f7e-2f5c-4c0d-9f69-2f4c8d2f1c11"
    assert read_typed(run) == Typed(phrases=(run,), trace_id=run, run_id=UUID(run))
    assert read_typed("#42") == Typed(phrases=("#42",), trace_id="#42", number=42)
    assert read_typed("42").number == 42
    assert read_typed("9" * 19).number is None
    assert read_typed("9" * 30).number is None
    assert read_typed("²").number is None


@pytest.mark.parametrize("text", ["", "  ", "\0"])
def test_nothing_typed_is_nothing_looked_for(text: str):
    assert not read_typed(text)


def test_marks_alone_are_no_phrase_and_may_be_an_id():
    assert read_typed('"" **') == Typed(trace_id='"" **')


def test_what_is_typed_is_bounded():
    assert len(read_typed("x" * 2000).phrases[0]) == MOST_TYPED
    many = [str(number) for number in range(MOST_PHRASES + 1)]
    assert len(read_typed(" ".join(many)).phrases) == MOST_PHRASES


@pytest.mark.parametrize(
    ("text", "is_cut"),
    [
        ("x" * MOST_TYPED, False),
        (f"  {'x' * MOST_TYPED}\n", False),
        ("x" * (MOST_TYPED + 1), True),
        (" ".join(map(str, range(MOST_PHRASES))), False),
        (" ".join(map(str, range(MOST_PHRASES + 1))), True),
        ("again " * (MOST_PHRASES + 1), False),
    ],
)
def test_that_more_was_typed_than_is_looked_for_is_known(text: str, is_cut: bool):
    assert read_typed(text).is_cut is is_cut


@pytest.mark.parametrize(
    ("phrase", "found"),
    [
        ("abc", True),
        ("ab", False),
        ("a b c", False),
        ("s&p", False),
        ("s&p 500", True),
        ("日本語", True),
        ("日本", False),
        ("हिन्दी", True),
        ("+++", False),
    ],
)
def test_three_letters_side_by_side_are_found_by_an_index(phrase: str, found: bool):
    assert has_trigram(phrase) is found


def test_a_database_may_know_ascii_only():
    assert not has_trigram("почему", beyond_ascii=False)
    assert has_trigram("курс usd", beyond_ascii=False)
