"""Markdown of strangers as HTML that can do nothing; the one place that makes safe strings."""

from collections.abc import MutableMapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlsplit

from django.utils.safestring import SafeString
from django.utils.translation import gettext
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
import nh3

from copilot_admin.rendering.markdown_room import as_written, keep_in_room

# Measured: 50,000 characters of prose take 70 ms, of the worst patterns found 400 ms.
MOST_FORMATTED = 50_000
# Unclosed brackets are the one pattern that costs the square of its length.
MOST_BRACKETS = 2_000
FIRST_HEADING = 4  # a page, a turn and an answer stand above

TAGS = frozenset(
    {"a", "blockquote", "br", "code", "del", "em", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"}
    | {"s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"}
)
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
ALIGNMENTS = {f"text-align:{side}": f"ca-align-{side}" for side in ("left", "center", "right")}
CLASSES = {
    "td": set(ALIGNMENTS.values()),
    "th": set(ALIGNMENTS.values()),
    "span": {"ca-muted", "ca-said-plain", "ca-unloaded"},
}


def safe_html(text: str) -> SafeString:
    """Renders Markdown written by people, models or tools.

    No HTML of the text survives, nothing is loaded from anywhere (an image becomes its text and
    the name of its host), and links leave without saying where they come from.

    Args:
        text: Markdown. Of very long texts, and of those with too many elements, what is too much
            keeps only its line breaks, and words say so.
    """
    if len(text) > MOST_FORMATTED or text.count("[") > MOST_BRACKETS:
        words = gettext("Shown as it was written: there is too much to format.")
        return _clean(as_written(text, words=words))
    return _clean(_MARKDOWN.render(text))


def _clean(html: str) -> SafeString:
    return SafeString(  # the last step: what nh3 lets through is what is shown
        nh3.clean(
            html,
            tags=set(TAGS),
            attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
            allowed_classes=CLASSES,
            # Code does not wrap: who has no mouse reads the ends of its lines from within.
            set_tag_attribute_values={"a": {"target": "_blank"}, "pre": {"tabindex": "0"}},
            url_schemes={"http", "https", "mailto"},
            link_rel="noopener noreferrer nofollow",
        )
    )


def _heading(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: object
) -> str:
    token = tokens[at]
    level = min(int(token.tag[1:]) + FIRST_HEADING - 1, 6)
    return f"<{'/' if token.nesting < 0 else ''}h{level}>"


def _cell(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: object
) -> str:
    token = tokens[at]
    alignment = ALIGNMENTS.get(str(token.attrGet("style")))
    return f'<{token.tag} class="{alignment}">' if alignment else f"<{token.tag}>"


def _link(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: object
) -> str:
    address = escape(str(tokens[at].attrGet("href")))
    return f'<a href="{address}" title="{address}">'


def _image(
    self: RendererHTML,
    tokens: Sequence[Token],
    at: int,
    options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    token = tokens[at]
    text = self.renderInlineAsText(token.children, options, env)
    host = host_of(str(token.attrGet("src"))) or gettext("no host")
    words = gettext("Image not loaded: %(text)s (%(host)s)") % {"text": text, "host": host}
    return f'<span class="ca-unloaded">{escape(words)}</span>'


def host_of(address: str) -> str:
    """The host of a web address; nothing where there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:  # such as an unfinished IPv6 address
        return ""


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "breaks": True})
    markdown.enable(["table", "strikethrough"])
    keep_in_room(markdown)
    for name, rule in {
        "heading_open": _heading,
        "heading_close": _heading,
        "th_open": _cell,
        "td_open": _cell,
        "link_open": _link,
        "image": _image,
    }.items():
        markdown.add_render_rule(name, rule)
    return markdown


_MARKDOWN = _markdown()
