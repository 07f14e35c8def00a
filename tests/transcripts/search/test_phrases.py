"""Typed words are read as phrases and as ids."""

from uuid import UUID

import pytest

from copilot_admin.transcripts.search.text_index import SearchQuery, has_trigram, parse_search

RUN = "0b0f6f7e-2f5c-4c0d-9f69-2f4c8d2f1c11"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("", SearchQuery()),
        (" \0 ", SearchQuery()),
        ('"" **', SearchQuery(trace_id='"" **')),
        (RUN, SearchQuery(phrases=(RUN,), trace_id=RUN, run_id=UUID(RUN))),
        ("#42", SearchQuery(phrases=("#42",), trace_id="#42", number=42)),
    ],
)
def test_a_search_is_words_or_an_id(text: str, query: SearchQuery):
    assert parse_search(text) == query
    assert bool(query) is bool(query.trace_id)


@pytest.mark.parametrize(
    ("phrase", "found"),
    [
        ("abc", True),
        ("ab", False),
        ("a b c", False),
        ("s&p 500", True),
        ("日本語", True),
        ("日本", False),
        ("हिन्दी", True),
        ("+++", False),
    ],
)
def test_an_index_finds_three_letters_in_a_row(phrase: str, found: bool):
    assert has_trigram(phrase) is found
