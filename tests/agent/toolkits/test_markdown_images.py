"""Images from elsewhere become links, however they are written and cut into pieces."""

from html.parser import HTMLParser
from random import Random

from markdown_it import MarkdownIt
import pytest

from copilot_admin.agent.toolkits.markdown_images import (
    MAX_HELD,
    MarkdownImages,
    without_remote_images,
)

ALLOWED = "https://charts.example.com"
READERS = (MarkdownIt("commonmark"), MarkdownIt("commonmark").enable(["table", "strikethrough"]))
PIECES = (
    *("![", "!", "[", "](", ")", "a", " ", "\n", "\n\n", "`", "``", "```", "```\n", "~~~\n", "\\"),
    *("http://evil.example/x", f"{ALLOWED}/x.png", "[b]: http://evil.example/y\n", "[b]", "> "),
    *("- ", "    ", "  ", "|", "$", "$$\n", "<", ">", "<!--\n", "-->\n", "<div>\n", "<a href='"),
    *("<img src=x>", "<b style='background:url(u)'>", "<p/onclick=x", "<svg>", "<form ", "<br>"),
    *("style=x", "<https:/style=x>", "![a](http://evil.example/z)", f"![a]({ALLOWED}/y.png)"),
    *("![a][b]", '"t"', "\r", "\r\n", "---\n", "\u00a0", "\f", "\ufeff", "\u2028", "\t" * 3000),
    *("x" * 3000, "a<b ", " x <p title='", '<p title="', "\n<b ", "onerror=", "/style=", "'", '"'),
    *("src=x ", "<div>", "</div>", "<!-- ", "<p>\n", "<a href=", "List<Object>", "1. ", "\t"),
    *("&#33;", "*", "|-|\n", "<http://a.b/`>", "#  "),
)


def in_pieces(text: str, *, size: int) -> str:
    images = MarkdownImages((ALLOWED,))
    parts = (text[start : start + size] for start in range(0, len(text), size))
    return "".join(map(images.feed, parts)) + images.end()


def loaded(text: str, reader: MarkdownIt) -> set[str]:
    """The addresses that a client would load by itself."""
    tokens = [child for token in reader.parse(text) for child in (token, *(token.children or ()))]
    found = {str(token.attrs["src"]) for token in tokens if token.type == "image"}
    html = (token.content for token in tokens if token.type in ("html_inline", "html_block"))
    return found.union(*map(_tags_that_load, html))


def _tags_that_load(html: str) -> set[str]:
    """The tags that load or run by themselves or by an attribute."""
    tags = _Tags()
    tags.feed(html)
    return tags.found


LOADING = {"style", "src", "srcset", "href", "background", "poster", "data", "action", "content"}


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {name for name, _ in attrs}
        is_loading = names & LOADING or any(name.startswith("on") for name in names)
        if is_loading or tag in ("img", "form", "svg"):
            self.found.add(str(self.get_starttag_text()))

    handle_startendtag = handle_starttag


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See ![a chart](http://e/x?q=1).", "See [a chart](http://e/x?q=1)."),
        ("![a][b]\n\n[b]: http://e", "[a][b]\n\n[b]: http://e"),
        ("Wow!![a](u)", "Wow!\\![a](u)"),
        ("\\![a](u)", "\\![a](u)"),
        ("\\\\![a](u)", "\\\\[a](u)"),
        ("<IMG src=x>", "&lt;IMG src=x>"),
        ("<svg/onload=x><b>c</b> 1<2 <images>!", "&lt;svg/onload=x><b>c</b> 1<2 <images>!"),
        ("a <b\nONclick = x>", "a &lt;b\nONclick = x>"),
        ("a <b title='>' x/style=u>", "a &lt;b title='>' x/style=u>"),
        ("a <c d>\n\nstyle=2", "a <c d>\n\nstyle=2"),
        ("<div>\nsee <b title='x'>", "<div>\nsee &lt;b title='x'>"),
        ("if a<b and c<d", "if a<b and c<d"),
        ("a Map<String, List<Object>> b", "a Map<String, List<Object>> b"),
        ("if a<b and c=d then $x>y$", "if a<b and c=d then $x>y$"),
        ("a <b x=y<i style=z>", "a &lt;b x=y&lt;i style=z>"),
        ("code `if a<b:`\n\nand `x<img>`", "code `if a<b:`\n\nand `x<img>`"),
        ("a<br>b<br/>c <br />d <u>e</u> <List-1>", "a<br>b<br/>c <br />d <u>e</u> <List-1>"),
        ("<b style='background:url(u)'>", "&lt;b style='background:url(u)'>"),
        ("<p/style=x>a <Form>b <button>", "&lt;p/style=x>a &lt;Form>b &lt;button>"),
        ("<b![a]>\n\n[a]: u", "<b[a]>\n\n[a]: u"),
        ("See <https://h/a?b=c&d=e> or <a.b@c.d>", "See <https://h/a?b=c&d=e> or <a.b@c.d>"),
        ("```\n<b class=x>\n```\n<b class=x>", "```\n<b class=x>\n```\n&lt;b class=x>"),
        ("an `![a](u)` b", "an `![a](u)` b"),
        ("```md\n![a](u)\n```\n![a](u)", "```md\n![a](u)\n```\n[a](u)"),
        (f"![a]({ALLOWED}/x.png) b", f"![a]({ALLOWED}/x.png) b"),
        (f'![a]({ALLOWED}/x.png "t")', f'![a]({ALLOWED}/x.png "t")'),
        (f"![a]({ALLOWED}.evil.example/x)", f"[a]({ALLOWED}.evil.example/x)"),
        ("![a](data:image/png;base64,AA)", "![a](data:image/png;base64,AA)"),
        ("Hi! Look: 3 < 4! [a](b)!", "Hi! Look: 3 < 4! [a](b)!"),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_what_is_left_of_an_image(text, shown, size):
    assert in_pieces(text, size=size) == shown


# What one reader takes for code and another does not: here it never is.
@pytest.mark.parametrize(
    "text",
    [
        *(
            "> ```\n{}\n",
            "- a\n  ```\n{}\n",
            "```\n    ```\n```\n{}\n",
            "<!--\n\n```\n-->\n{}\n```",
        ),
        *("  ~~~\n\n~~~\n{}\n", "$$\n```\n$$\n{}\n", "\ufeff---\n```\n---\n{}\n", "    {}"),
        *("| ` | {} ` |\n|-|-|\n", "$`$ {} `", "<http://a.b/`> {} `", "\\` {} `", "` a\n{} `"),
        *("```\n```\u00a0\n```\n{}\n", "`a\n\v\n`{}`", "x" * 600 + "\r```\n```\n{}\n"),
    ],
)
def test_doubtful_code_is_none(text):
    image = "![x](http://evil.example)"
    assert image not in in_pieces(text.format(image), size=1)


@pytest.mark.parametrize("first", range(0, 150, 50))
def test_no_reader_of_markdown_loads_anything_from_elsewhere(first):
    for seed in range(first, first + 50):
        random = Random(seed)
        text = "".join(random.choices(PIECES, k=random.randint(2, 40)))
        for sent in (without_remote_images(text, sources=(ALLOWED,)), in_pieces(text, size=1)):
            for reader in READERS:
                remote = {one for one in loaded(sent, reader) if not one.startswith(f"{ALLOWED}/")}
                assert remote == set(), (seed, text, sent)


def test_text_without_images_is_not_held_back():
    images = MarkdownImages()
    pieces = ("The margin ", "fell to 12%", "", ".\n`a` [b](c) 1", " > 0")
    assert [images.feed(one) for one in pieces] == list(pieces)
    assert images.end() == ""


def test_an_image_that_is_in_the_text_itself_may_be_long():
    image = f"![a](data:image/png;base64,{'A' * 100_000})"
    assert MarkdownImages().feed(f"{image} b") == f"{image} b"


@pytest.mark.parametrize("start", ["![", f"![a]({ALLOWED}/", "`![a"])
def test_no_more_is_held_back_than_a_bound(start):
    images = MarkdownImages((ALLOWED,))
    sent = sum(len(images.feed(one)) for one in start + "x" * (2 * MAX_HELD))
    assert sent > MAX_HELD
