"""HTML that a model writes: shown as far as Workspace shows it."""

import pytest

from copilot_admin.engine.tools.html import cleaned
from copilot_admin.engine.tools.inline_styles import MOST_LENGTH, harmless_style
from protocol.events import ArtifactType, MessageArtifact
from tests.engine.engine_inputs import make_engine_input, make_spec, outputs_of
from tests.engine.scripted import ScriptedProvider, call, text


@pytest.mark.parametrize(
    ("html", "clean"),
    [
        ("<b>x</b><script>alert(1)</script>", "<b>x</b>"),
        ("<style>p{color:red}</style><p>x</p>", "<p>x</p>"),
        ("<iframe src='https://a'></iframe><form><input></form>x", "x"),
        ("<object data='a'></object><embed src='a'>x", "x"),
        ('<p onclick="x()" style="color:red">x</p>', '<p style="color:red">x</p>'),
        ('<p style="background-image:url(https://a);color:red">x</p>', '<p style="color:red">x</p>'),
        ('<a href="javascript:x()">x</a>', '<a rel="noopener noreferrer">x</a>'),
        ('<td colspan="2">x</td>', "x"),
        (
            '<table><tbody><tr><td colspan="2">x</td></tr></tbody></table>',
            '<table><tbody><tr><td colspan="2">x</td></tr></tbody></table>',
        ),
        ("<section><h1>x</h1></section>", "<section><h1>x</h1></section>"),
    ],
)  # fmt: skip
def test_nothing_stays_that_runs_asks_or_calls_home(html, clean):
    assert cleaned(html) == clean


CARD = (
    '<div style="background: linear-gradient(135deg, #667eea 0%, rgba(9, 9, 9, 0.2) 100%); '
    "font-family: system-ui, 'Segoe UI', sans-serif; flex-shrink: 0; "
    "grid-template-columns: repeat(2, minmax(0, 1fr));\"><b>$5</b> today's</div>"
)


def test_a_card_comes_out_exactly_as_it_was_written():
    assert cleaned(CARD) == CARD


@pytest.mark.parametrize(
    "declaration",
    [
        "background: url(https://example.org/x)",
        "background: URL (x)",
        "background-image: image-set('x' 1x)",
        "background: \\75rl(x)",
        "background: u/**/rl(x)",
        "position: fixed",
        "color: attr(title)",
        "color: 'red",
        "color: rgb(1",
        "color: (1)",
        "color",
        "color: rgb(1'",
        "behavior: x",
        "--x: 1",
        "color: @x",
        "color: [red]",
        "color: {red}",
        "color: 'a;b'",
        "color: 'a\\'",
        "color: red /*",
        "color: url(x",
        "colo\\72: red",
        "color:",
        "@import 'x'",
        "p { color: red }",
        f"color: {'calc(' * 9}1{')' * 9}",
    ],
)
def test_a_style_that_loads_or_covers_something_is_taken_out_alone(declaration):
    assert cleaned(f"<p style='{declaration.replace(chr(39), '&#39;')}'>x</p>") == "<p>x</p>"
    kept = cleaned(f'<p style="color: red; {declaration}">x</p>')
    assert kept == '<p style="color: red">x</p>'


def test_what_stays_beside_something_taken_out_keeps_its_meaning():
    style = "Color: red !important ; position: fixed; font-family: 'A B' ,serif;"
    assert harmless_style(style) == 'Color: red !important; font-family: "A B" ,serif'


@pytest.mark.parametrize("opening", ["(", "[", "{", "calc(", "a{", "/*", "\\", "url("])
def test_no_depth_of_nesting_breaks_it(opening):
    assert harmless_style(f"color: red; width: {opening * 1_500}") == "color: red"


def test_style_with_a_number_that_python_does_not_read_is_left_out():
    assert harmless_style(f"color: red; width: {'9' * 5000}px") is None


def test_style_that_is_longer_than_any_design_is_left_out():
    style = "color: red; ".ljust(MOST_LENGTH)
    assert harmless_style(style) == style
    assert harmless_style(f"{style} ") is None


def shown(*script):
    with ScriptedProvider(script) as provider:
        outputs = outputs_of(make_engine_input(provider, spec=make_spec(tools=("html",))))
    return [one for one in outputs if isinstance(one, MessageArtifact)], provider


def test_html_is_shown_as_an_artifact_with_a_name_of_its_own():
    [artifact], provider = shown(
        call("html", name="Card", description="Figures.", html="<b>1</b><script>x</script>"),
        text("See above."),
    )
    assert (artifact.type, artifact.content) == (ArtifactType.HTML, "<b>1</b>")
    assert artifact.artifact_name.startswith("Card ")
    assert provider.calls[1].messages[-1].text == "The user now sees 'Card'."


def test_html_of_which_nothing_is_left_is_told_to_the_model():
    artifacts, provider = shown(
        call("html", name="Card", description="", html="<script>x</script>"), text("Sorry.")
    )
    assert artifacts == []
    assert "scripts, styles, frames and forms" in provider.calls[1].messages[-1].text


def test_a_picture_alone_is_something_to_show():
    [artifact], _ = shown(
        call("html", name="P", description="", html='<img src="https://a/b.png" alt="">'),
        text("See above."),
    )
    assert artifact.content == '<img src="https://a/b.png" alt="">'


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 5001,
        "<p>" + "".join(f"<b lang='{number}'>" for number in range(500)) + "<p>x" * 500,
        "<p>" + "<b lang='1'id='2'>" * 500 + "<p>x" * 500,
    ],
)
def test_html_that_is_costly_to_clean_is_told_to_the_model(html):
    artifacts, provider = shown(
        call("html", name="Card", description="", html=html), text("Sorry.")
    )
    assert artifacts == []
    assert "Use fewer elements" in provider.calls[1].messages[-1].text


def test_a_long_table_with_styled_cells_is_shown():
    row = '<tr><td><b style="color:red">1</b></td><td>2</td></tr>'
    table = f"<table><tbody>{row * 2000}</tbody></table>"
    artifacts, _ = shown(call("html", name="T", description="", html=table), text("See above."))
    assert [one.content for one in artifacts] == [table]
