"""Tables and HTML said as text."""

import pytest

from protocol.plain_text import MAX_CELLS, html_text, markdown_table


@pytest.mark.parametrize(
    ("rows", "table"),
    [
        ([], ""),
        ([{}], ""),
        ([{"a": 1}], "| a |\n| --- |\n| 1 |"),
        ([{"a": 1}, {"b": 2}], "| a | b |\n| --- | --- |\n| 1 |  |\n|  | 2 |"),
        ([{"a|b": "x|y"}], "| a\\|b |\n| --- |\n| x\\|y |"),
        ([{"a": "two\r\nlines"}], "| a |\n| --- |\n| two lines |"),
        ([{"a": True}, {"a": False}], "| a |\n| --- |\n| yes |\n| no |"),
        ([{"a": [1, "b", [2]]}], "| a |\n| --- |\n| 1, b, … |"),
        ([{"a": {"x": 1, "y": {"z": 2}}}], "| a |\n| --- |\n| x: 1, y: … |"),
    ],
)
def test_rows_become_a_markdown_table(rows: list, table: str):
    assert markdown_table(rows) == table


def test_rows_that_are_too_many_for_a_table_are_counted_in_words():
    table = markdown_table([{"a": 1, "b": 2}] * (MAX_CELLS // 2 + 3))
    assert table.count("| 1 | 2 |") == MAX_CELLS // 2
    assert table.endswith("| 1 | 2 |\n\n3 more rows are left out: the table is too large.")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("plain", "plain"),
        ("<p>One</p><p>Two</p>", "One\nTwo"),
        ("<b>5 &lt; 6</b> &amp; more", "5 < 6 & more"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
        ("x<script>alert('</p>')</script>y", "xy"),
        ("x<STYLE>p{}</STYLE >y", "xy"),
        ("x<script>never closed <p>y</p>", "x"),
        ("x<script>closed badly</script", "x"),
        ("<div>a</div>\n\n\n\n<div>b</div>", "a\n\nb"),
        ("<!-- hidden -->shown", "shown"),
        ("a&#" + "1" * 5000 + ";b &#65;", "a\ufffdb A"),
        ("İ<style>x</style>y", "İy"),
    ],
)
def test_html_becomes_its_text(html: str, text: str):
    assert html_text(html) == text
