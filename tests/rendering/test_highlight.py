"""Search words are highlighted in HTML, and nothing else of it changes."""

import html
import re

from django.utils.safestring import SafeString
from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.rendering.highlight import MAX_HIGHLIGHTED, highlight
from copilot_admin.rendering.markdown import safe_html

OPEN, CLOSE = '<mark class="ca-hit">', "</mark>"


@pytest.mark.parametrize(
    ("safe", "phrases", "expected"),
    [
        ("<p>Почему?</p>", ["почему"], "<p>[Почему]?</p>"),
        (
            "<p>a <strong>big</strong> word</p>",
            ["big word"],
            "<p>a <strong>[big]</strong>[ word]</p>",
        ),
        ("<p>one</p><p>two</p>", ["one two"], "<p>[one]</p><p>[two]</p>"),
        ("<p>one</p><p>two</p>", ["onetwo"], "<p>one</p><p>two</p>"),
        ("<p>R&amp;D &lt;b&gt;</p>", ["r&d", "<b>"], "<p>[R&amp;D] [&lt;b&gt;]</p>"),
        ('<a href="x" title="word>">word</a>', ["word"], '<a href="x" title="word>">[word]</a>'),
        ("<p>p</p>", ["p"], "<p>[p]</p>"),
        ("<p>Straße</p>", ["strasse"], "<p>[Straße]</p>"),
        ("a < word", ["word"], "a < [word]"),
        ("<p>x</p>", [], "<p>x</p>"),
        ("<p>x</p>", ["y"], "<p>x</p>"),
    ],
)
def test_words_are_highlighted_within_the_texts(safe: str, phrases: list[str], expected: str):
    wanted = expected.replace("[", OPEN).replace("]", CLOSE)
    assert highlight(SafeString(safe), phrases) == wanted


def test_long_pieces_are_highlighted_at_their_beginning():
    long = SafeString("<p>word</p><p>" + "x" * MAX_HIGHLIGHTED + " word</p>")
    assert highlight(long, ["word"]).count(OPEN) == 1


@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=3), max_size=3))
def test_nothing_but_marks_is_added(text: str, phrases: list[str]):
    for safe in (safe_html(text), SafeString(html.escape(text))):
        found = highlight(safe, phrases)
        assert found.replace(OPEN, "").replace(CLOSE, "") == safe
        for piece in re.findall(f"{OPEN}(.*?){CLOSE}", found, re.DOTALL):
            assert "<" not in piece or "<" not in safe.replace("<p>", "")
