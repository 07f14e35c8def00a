"""The rows of a table of figures as HTML."""

from copilot_admin.admin.figures.cells import number, words
from copilot_admin.admin.figures.table_body import body_of


def test_the_first_cell_names_its_row_and_every_text_stays_text():
    hostile = '<img src=x onerror="alert(1)">'
    assert body_of([[words(hostile, "?a=1&b=2"), number(1200), words("")]]) == (
        '<tr><th scope="row"><a href="?a=1&amp;b=2">'
        "<bdi>&lt;img src=x onerror=&quot;alert(1)&quot;&gt;</bdi></a></th>"
        '<td class="ca-number" dir="ltr"><bdi>1,200</bdi></td>'
        "<td><bdi>–</bdi></td></tr>\n"  # a dash
    )
    assert body_of([]) == ""
