"""How much of a Markdown text is formatted; what is beyond it is shown as it was written.

A short text can ask for very many elements: a table of 6,000 characters for 65,000 empty cells.
"""

from collections.abc import Sequence
import re

from django.utils.html import escape
from django.utils.translation import gettext
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

# Measured: a text with so many of each takes 100 ms; an answer of ten pages has some hundreds.
MOST_CELLS = 3_000
MOST_MARKS = 5_000
_TOKENS_OF_A_CELL = 3
_MOST_TOKENS = MOST_CELLS * _TOKENS_OF_A_CELL  # of paragraphs, lists and tables
_MARK = re.compile(r"[\\\n*_`~\[\]!&<]")  # no other character begins an element within a line
_FULL, _SAID = "is full", "was said"


def keep_in_room(markdown: MarkdownIt) -> None:
    """Lets a parser format the beginning of a text that has too many elements."""
    markdown.block.ruler.before("table", "rest", _rest)
    markdown.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    markdown.core.ruler.at("inline", _inline)
    markdown.add_render_rule("rest", _as_written)


def as_written(text: str, *, words: str) -> str:
    """A text with its line breaks, not formatted, after the words that say why."""
    said = f'<span class="ca-muted">{escape(words)}</span>\n' if words else ""
    return f'{said}<span class="ca-said-plain">{escape(text)}</span>'


def _rest(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if not state.env.get(_FULL) and len(state.tokens) <= _MOST_TOKENS:
        return False
    token = state.push("rest", "", 0)
    token.content = state.getLines(start, end, state.blkIndent, False)
    state.line = end
    return True


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    head = state.src[state.bMarks[start] : state.eMarks[start]]
    columns = head.strip(" \t|").count("|") + 1
    if silent or columns > MOST_CELLS:
        return silent and table(state, start, end, silent)
    room = _MOST_TOKENS - len(state.tokens)
    last = start + 2 + max(room // (columns * _TOKENS_OF_A_CELL) - 1, 0)  # one is the head
    found = table(state, start, min(end, last), silent)
    if found and state.line == last < end:
        state.env[_FULL] = True
    return found


def _inline(state: StateCore) -> None:
    room = MOST_MARKS
    for token in state.tokens:
        if token.type != "inline":
            continue
        marks = len(_MARK.findall(token.content))
        room -= marks
        token.children = []
        if marks and room >= 0:
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        elif token.content:
            kind = "rest" if marks else "text"
            token.children.append(Token(kind, "", 0, content=token.content))


def _as_written(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    words = gettext("The rest is shown as it was written: there is too much to format.")
    is_first = not env.get(_SAID)
    env[_SAID] = True
    return as_written(tokens[at].content, words=words if is_first else "")
