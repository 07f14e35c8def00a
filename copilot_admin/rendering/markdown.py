"""Markdown written by people, models or tools as harmless HTML."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from html import escape, unescape
import re
from typing import Any
from unicodedata import category, east_asian_width
from urllib.parse import urlsplit

from django.utils.safestring import SafeString
from django.utils.translation import gettext
from markdown_it import MarkdownIt
from markdown_it.common.utils import isPunctChar
from markdown_it.parser_inline import ParserInline
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
import nh3

from copilot_admin.storage.search_text import find_spans, normalize

# Measured: 50,000 characters of prose take 70 ms, of the worst patterns found 400 ms.
MAX_FORMATTED = 50_000
# Unclosed brackets are the one pattern that costs the square of its length.
MAX_BRACKETS = 2_000
FIRST_HEADING = 4  # a page, a turn and an answer stand above

TAGS = frozenset(
    {"a", "blockquote", "br", "code", "del", "em", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"}
    | {"s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"}
)
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
ALIGNMENTS = {f"text-align:{side}": f"ca-align-{side}" for side in ("left", "center", "right")}
_CLEANER = nh3.Cleaner(
    tags=set(TAGS),
    attributes=ATTRIBUTES,
    allowed_classes={
        "td": set(ALIGNMENTS.values()),
        "th": set(ALIGNMENTS.values()),
        "span": {"ca-muted", "ca-prose--plain", "ca-unloaded"},
    },
    # Code doesn't wrap; with a tab stop it can be scrolled by keyboard.
    set_tag_attribute_values={"a": {"target": "_blank"}, "pre": {"tabindex": "0"}},
    url_schemes={"http", "https", "mailto"},
    link_rel="noopener noreferrer nofollow",
)
# LaTeX between \( \), \[ \], $$ $$ or $ $. A single dollar sign is one only as Pandoc reads it, so that
# "$5 to $6" stays an amount.
_FORMULA = re.compile(
    r"\\\(.{1,2000}?\\\)|\\\[.{1,2000}?\\\]|\$\$.{1,2000}?\$\$|\$(?![\s$])[^$\n]{0,500}(?<!\s)\$(?!\d)",
    re.DOTALL,
)
_FORMULA_BLOCK = re.compile(
    r"(?:\\\[(?:(?!\\\]).){1,2000}?\\\]|\$\$(?:(?!\$\$).){1,2000}?\$\$)[ \t]*(?=\n|\Z)", re.DOTALL
)
# Characters of one piece of HTML. Beyond them nothing is highlighted.
MAX_HIGHLIGHTED = 60_000
_TOKEN = re.compile(r"""<(?:[^<>"']|"[^"]*"|'[^']*')*>|[^<]+|<""")
_SIGN = re.compile(r"&(?:#\d+|#x[\da-fA-F]+|\w+);|.", re.DOTALL)
# Elements inside of a line: a phrase may begin in one and end in another.
_INLINE = re.compile(r"</?(?:a|b|code|del|em|i|s|span|strong)\b", re.IGNORECASE)


def safe_html(text: str) -> SafeString:
    """Render untrusted Markdown.

    No HTML of the text survives, nothing is loaded (an image becomes its text and the name of its
    host), and links send no referrer. Very long texts keep only their line breaks.
    """
    if len(text) > MAX_FORMATTED or text.count("[") > MAX_BRACKETS:
        words = gettext("Too long to format, so it is shown as plain text.")
        html = (
            f'<span class="ca-muted">{escape(words)}</span>\n'
            f'<span class="ca-prose--plain">{escape(text)}</span>'
        )
    else:
        html = _MARKDOWN.render(text)
    return SafeString(_CLEANER.clean(html))  # sanitized as the last step


class _InlineState(StateInline):
    """Lets emphasis begin and end next to Chinese, Japanese and Korean, which have no blanks.

    The rules are those of the "CJK-friendly amendments" to CommonMark: an ideograph outside of the
    marks counts as punctuation, and full-width punctuation inside of them counts as a letter.
    """

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:
        scanned = super().scanDelims(start, canSplitWord)
        end = start + scanned.length
        before = self.src[start - 1] if start else " "
        after = self.src[end] if end < self.posMax else " "
        if not (_is_cjk(before) or _is_cjk(after)):
            return scanned
        opens = not after.isspace() and (_is_word(after) or _is_border(before))
        closes = not before.isspace() and (_is_word(before) or _is_border(after))
        if not canSplitWord:
            splits = opens and closes
            opens = opens and (not splits or isPunctChar(before))
            closes = closes and (not splits or isPunctChar(after))
        return Scanned(opens, closes, scanned.length)


def _is_cjk(sign: str) -> bool:
    return east_asian_width(sign) in "WFH" and category(sign) != "So"  # emoji are as wide


def _is_word(sign: str) -> bool:
    return _is_cjk(sign) or not isPunctChar(sign)


def _is_border(sign: str) -> bool:
    return sign.isspace() or _is_cjk(sign) or isPunctChar(sign)


class _InlineParser(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> list[Token]:
        state = _InlineState(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


def _keep_formula(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "\\$":
        return False
    found = _FORMULA.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        for number, line in enumerate(found[0].split("\n")):
            if number:
                state.push("softbreak", "br", 0)
            state.push("text", "", 0).content = line
    state.pos = found.end()
    return True


def _keep_formula_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Keep a formula of several lines, which may begin with the signs of a list or a heading."""
    begin = state.bMarks[start] + state.tShift[start]
    found = _FORMULA_BLOCK.match(state.src, begin, state.eMarks[end - 1])
    if found is None:
        return False
    if not silent:
        last = start + found[0].count("\n")
        state.push("formula_open", "p", 1).map = [start, last + 1]
        token = state.push("inline", "", 0)
        token.content, token.children, token.map = found[0].strip(), [], [start, last + 1]
        state.push("formula_close", "p", -1)
        state.line = last + 1
    return True


def _heading(_self: RendererHTML, tokens: Sequence[Token], at: int, *_: object) -> str:
    token = tokens[at]
    level = min(int(token.tag[1:]) + FIRST_HEADING - 1, 6)
    return f"<{'/' if token.nesting < 0 else ''}h{level}>"


def _cell(_self: RendererHTML, tokens: Sequence[Token], at: int, *_: object) -> str:
    token = tokens[at]
    alignment = ALIGNMENTS.get(str(token.attrGet("style")))
    return f'<{token.tag} class="{alignment}">' if alignment else f"<{token.tag}>"


def _link(_self: RendererHTML, tokens: Sequence[Token], at: int, *_: object) -> str:
    url = escape(str(tokens[at].attrGet("href")))
    return f'<a href="{url}" title="{url}">'


def _image(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    token = tokens[at]
    text = self.renderInlineAsText(token.children, options, env)
    host = get_host(str(token.attrGet("src"))) or gettext("no host")
    words = gettext("Image not loaded: %(text)s (%(host)s)") % {"text": text, "host": host}
    return f'<span class="ca-unloaded">{escape(words)}</span>'


def get_host(url: str) -> str:
    """Return the host of a URL, or "" if it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # such as an unfinished IPv6 address
        return ""


def _make_markdown() -> MarkdownIt:
    markdown = MarkdownIt()
    markdown.inline = _InlineParser()
    markdown.configure("commonmark", {"html": False, "breaks": True})
    markdown.enable(["table", "strikethrough"])
    ends = ["paragraph", "reference", "blockquote", "list"]
    markdown.block.ruler.before("code", "formula", _keep_formula_block, {"alt": ends})
    markdown.inline.ruler.before("escape", "formula", _keep_formula)
    for name in ("heading_open", "heading_close"):
        markdown.add_render_rule(name, _heading)
    for name in ("th_open", "td_open"):
        markdown.add_render_rule(name, _cell)
    markdown.add_render_rule("link_open", _link)
    markdown.add_render_rule("image", _image)
    return markdown


_MARKDOWN = _make_markdown()


Place = tuple[int, int]  # a token and a sign of it


def highlight(safe: SafeString, phrases: Sequence[str]) -> SafeString:
    """Wrap every occurrence of the normalized phrases in `mark` elements."""
    tokens: list[str] = _TOKEN.findall(safe)
    shown, places = _signs(tokens)
    folded = normalize(shown)
    if not any(phrase in folded for phrase in phrases):
        return safe
    hits: dict[int, set[int]] = defaultdict(set)
    for start, end in find_spans(shown, phrases):
        for place in filter(None, places[start:end]):
            hits[place[0]].add(place[1])
    for number, signs in hits.items():
        tokens[number] = "".join(_with_marks(_SIGN.findall(tokens[number]), signs))
    return SafeString("".join(tokens))  # safe input, and only `mark` was added


def _signs(tokens: Sequence[str]) -> tuple[str, list[Place | None]]:
    shown: list[str] = []
    places: list[Place | None] = []
    length = 0
    for number, token in enumerate(tokens):
        length += len(token)
        if length > MAX_HIGHLIGHTED:
            break
        if token.startswith("<"):
            if not _INLINE.match(token):  # the line ends
                shown.append(" ")
                places.append(None)
            continue
        for sign, written in enumerate(_SIGN.findall(token)):
            seen = unescape(written)
            shown.append(seen)
            places += [(number, sign)] * len(seen)
    return "".join(shown), places


def _with_marks(signs: Sequence[str], hits: set[int]) -> Iterator[str]:
    is_open = False
    for number, sign in enumerate(signs):
        if (number in hits) is not is_open:
            yield "</mark>" if is_open else '<mark class="ca-hit">'
            is_open = not is_open
        yield sign
    if is_open:
        yield "</mark>"
