"""Untrusted Markdown becomes harmless HTML."""

import html
from html import unescape
from html.parser import HTMLParser
import re

from django.utils.safestring import SafeString
from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.rendering.markdown import (
    ATTRIBUTES,
    MAX_BRACKETS,
    MAX_FORMATTED,
    MAX_HIGHLIGHTED,
    TAGS,
    highlight,
    safe_html,
)
from tests.rendering.hostile_texts import FOREIGN, PAYLOADS


class Tags(HTMLParser):
    """Every element and attribute of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def assert_harmless(html: str) -> None:
    allowed = {name for names in ATTRIBUTES.values() for name in names}
    for tag, attributes in Tags(html).found:
        assert tag in TAGS
        assert set(attributes) <= allowed | {"class", "rel", "tabindex", "target"}
        if tag == "a" and "href" in attributes:
            assert attributes["rel"] == "noopener noreferrer nofollow"
            assert attributes["target"] == "_blank"
            assert (attributes["href"] or "").split(":")[0] in {"http", "https", "mailto"}


def unloaded(words: str) -> str:
    return f'<p><span class="ca-unloaded">Image not loaded: {words}</span></p>\n'


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_hostile_text_becomes_harmless_html(payload: str):
    html = safe_html(payload)
    assert isinstance(html, SafeString)
    assert_harmless(html)


@given(st.text(alphabet="<>/\"'=` \n[]()!*_&#;|:-ajscript\x00\u2028", max_size=60))
def test_any_text_becomes_harmless_html(text: str):
    assert_harmless(safe_html(text))


def test_markdown_looks_as_it_should():
    text = "# Prices\n\nUp **3 %**, ~~down~~.\nNext line.\n\n1. one\n\n```py\nx < 1\n```"
    assert safe_html(text) == (
        "<h4>Prices</h4><p>Up <strong>3 %</strong>, <s>down</s>.<br>\nNext line.</p>\n"
        '<ol>\n<li>one</li>\n</ol>\n<pre tabindex="0"><code>x &lt; 1\n</code></pre>\n'
    )


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# a\n\n### b\n\n###### c", "<h4>a</h4><h6>b</h6><h6>c</h6>"),
        ("[bank](https://evil.example/?a=1&b \"bank.example\")",
         '<p><a href="https://evil.example/?a=1&amp;b" title="https://evil.example/?a=1&amp;b" '
         'target="_blank" rel="noopener noreferrer nofollow">bank</a></p>\n'),
        (f"![a <b>chart</b>]({FOREIGN}/p.png)",
         unloaded("a &lt;b&gt;chart&lt;/b&gt; (evil.example)")),
        ("![logo](/static/x.png)", unloaded("logo (no host)")),
        ("![x](http://[::1/x)", unloaded("x (no host)")),
        ("Sum:\n\\[\n- x\n\\]\n*so*",
         "<p>Sum:</p>\n<p>\\[<br>\n- x<br>\n\\]</p>\n<p><em>so</em></p>\n"),
    ],
)  # fmt: skip
def test_headings_links_images_and_formulas_have_their_own_form(text: str, html: str):
    assert safe_html(text) == html


def test_tables_have_no_style():
    html = safe_html("|a|b|\n|:-:|---|\n|1|2|")
    assert '<th class="ca-align-center">a</th>' in html
    assert "<td>2</td>" in html
    assert "style" not in html


@pytest.mark.parametrize(
    "text", ["**x** <b>\n" * (MAX_FORMATTED // 8), "[" * (MAX_BRACKETS + 1) + "**x** <b>"]
)
def test_very_long_texts_are_shown_plain(text: str):
    html = safe_html(text)
    assert "Too long to format, so it is shown as plain text." in html
    assert "**x** &lt;b&gt;" in html
    assert_harmless(html)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**重要：**请注意", "<strong>重要：</strong>请注意"),
        ("**“引用”**は", "<strong>“引用”</strong>は"),
        ("これは**強調（注）**である", "これは<strong>強調（注）</strong>である"),
        ("*重要。*次", "<em>重要。</em>次"),
        ("~~删除（旧）。~~这", "<s>删除（旧）。</s>这"),
        ("패키지 **텍스트(괄호)**를", "패키지 <strong>텍스트(괄호)</strong>를"),
        ("**`npm`**를", "<strong><code>npm</code></strong>를"),
        ("（_x_）日_x_本", "（<em>x</em>）日_x_本"),
        ("a**b**c snake_case_x", "a<strong>b</strong>c snake_case_x"),
        ("a**「b", "a**「b"),
    ],
)
def test_emphasis_works_next_to_cjk_punctuation(text: str, html: str):
    assert safe_html(text) == f"<p>{html}</p>\n"


@pytest.mark.parametrize(
    "formula",
    [
        r"\(a_1 * b_2\)",
        r"\[ \frac{a}{b} \]",
        "$a_1$ and *no* $b_1$",
        r"$$\sum_i *x_i* \\ y$$",
        "$$\nx\n= y_1\n- *z*\n$$",
        "\\[\na_1_\n\nb\n===\n\\]",
    ],
)
def test_latex_stays_as_it_was_written(formula: str):
    html = safe_html(f"{formula}").replace("<br>\n", "\n").replace("<em>no</em>", "*no*")
    assert html == f"<p>{formula}</p>\n"
    assert_harmless(safe_html(f"{formula[:2]}<img src=x onerror=alert(1)>{formula[-2:]}"))


@pytest.mark.parametrize(
    "text",
    [
        "From $5 to $6.",
        "$5/$6 and US$5_000_ vs A$6",
        "$$ unclosed",
        "a<b",
        "x<y>z",
        "List<int>, Map<String, List<int>>",
        "if a<b and c>d: x &lt; y",
        "<think>hm</think>x",
        "p<0.05 & q>1",
        "a<!--b-->c",
    ],
)
def test_text_is_shown_as_it_was_written(text: str):
    shown = unescape(safe_html(text).removeprefix("<p>").removesuffix("</p>\n"))
    assert shown == unescape(text)


AWKWARD = [
    "*a _b ", "`a``b```", "> ", "- ", "&", "\\[", "**a*b", "|a", "|a|\n|-|\n", "[a]: x\n", "<"
]  # fmt: skip


@pytest.mark.parametrize("pattern", AWKWARD)
def test_patterns_that_are_hard_to_parse_come_out_harmless(pattern: str):
    assert_harmless(safe_html((pattern * 5_000)[:5_000]))


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
