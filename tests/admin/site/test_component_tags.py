"""Tags of the component style sheet: names for screen readers, URLs, attributes and escaping."""

from typing import Any

from django.template import Context, Template
import pytest

HOSTILE = '"><script>alert(1)</script>'


def draw(source: str, **context: Any) -> str:
    return Template(source).render(Context(context))


def test_a_button_with_a_view_is_a_link() -> None:
    html = draw(
        '{% button "Erase" "admin:privacy_erase" icon="trash" style="danger s" query_user=user %}',
        user="id:a&b",
    )
    assert html.startswith('<a class="ca-btn ca-btn--danger ca-btn--s" href="/admin/privacy/erase/')
    assert "?user=id%3Aa%26b" in html
    assert 'type="submit"' in draw('{% button "Save" %}')
    assert 'type="button"' in draw('{% button "Save" type="button" %}')


def test_a_button_without_text_has_a_name_and_a_tooltip() -> None:
    html = draw('{% button "Copy" icon="copy" style="quiet icon" data_copy=True %}')
    assert 'aria-label="Copy"' in html
    assert 'title="Copy"' in html
    assert "data-copy" in html
    assert ">Copy<" not in html
    assert '<span class="ca-sr"> Ada</span>' in draw('{% button "Edit" about="Ada" %}')


def test_a_query_string_is_taken_as_it_is() -> None:
    text = '{% link "Back" "admin:privacy" query=query %}'
    for query, end in (("?a=1&b=2", "/?a=1&amp;b=2"), ("a=1", "/?a=1"), ("", "/"), (None, "/")):
        assert f'{end}"' in draw(text, query=query)


def test_who_may_not_follow_a_link_sees_its_text() -> None:
    text = '{% link "Privacy" "admin:privacy" when=may %}'
    assert draw(text, may=False) == "Privacy"
    assert draw(text, may=True) == '<a href="/admin/privacy/">Privacy</a>'


def test_a_button_of_its_own_form_is_protected() -> None:
    html = draw(
        '{% post_button "Load" "admin:demo_load" style="primary" form_id="load" %}', csrf_token="t"
    )
    assert html.startswith('<form method="post" action="/admin/demo/load/" id="load"><input')
    assert 'value="t"' in html
    assert '<button class="ca-btn ca-btn--primary" type="submit">Load</button>' in html


@pytest.mark.parametrize(
    "text",
    [
        "{% button text %}",
        '{% button text icon="x" style="icon" %}',
        "{% button text href=text %}",
        '{% link text "admin:privacy" title=text %}',
        "{% note %}{{ text }}{% endnote %}",
        "{% fold text id=text %}{{ text }}{% endfold %}",
        '{% section text id="a" %}{% endsection %}',
        '{% card text id="a" %}{{ text }}{% endcard %}',
        '{% empty_state "x" text text %}{{ text }}{% endempty_state %}',
        "{% menu text %}{{ text }}{% endmenu %}",
        "{% table text %}{{ text }}{% endtable %}",
        "{% column text %}",
        '{% field "a" text text %}{{ text }}{% endfield %}',
    ],
)
def test_texts_of_others_are_escaped(text: str) -> None:
    html = draw(text, text=HOSTILE)
    assert "&lt;script&gt;" in html
    assert "<script" not in html


def test_a_fold_is_open_if_there_is_something_in_it() -> None:
    text = '{% fold "More" open=rows %}{% endfold %}'
    assert " open>" in draw(text, rows=[1])
    assert " open" not in draw(text, rows=[])


def test_a_table_with_a_name_is_scrolled_by_keyboard() -> None:
    assert 'tabindex="0" aria-label="Jobs"' in draw('{% table "Jobs" %}{% endtable %}')
    assert "tabindex" not in draw("{% table %}{% endtable %}")
