"""Inline styles that a model writes: kept as they are, as far as they only style."""

from collections.abc import Sequence
import re

from tinycss2 import parse_blocks_contents
from tinycss2.ast import Declaration, FunctionBlock, LiteralToken, Node, StringToken

# No property that takes an element out of its place, and so over something else.
_PROPERTY = re.compile(
    r"(accent-color|align-(content|items|self)|aspect-ratio"
    r"|background(-(clip|color|image|origin|position|repeat|size))?"
    r"|border(-(top|right|bottom|left))?(-(color|radius|style|width))?"
    r"|border-(top|bottom)-(left|right)-radius|border-(collapse|spacing)|box-(shadow|sizing)|color"
    r"|display|flex(-(basis|direction|flow|grow|shrink|wrap))?"
    r"|font(-(family|feature-settings|size|stretch|style|variant|variant-numeric|weight))?"
    r"|(column-|row-)?gap|grid(-(area|auto-flow|column|gap|row|template))?"
    r"|grid-(auto|template)-(areas|columns|rows)|justify-(content|items|self)|letter-spacing"
    r"|line-height|list-style(-type)?|(margin|padding)(-(top|right|bottom|left))?"
    r"|(max-|min-)?(height|width)|opacity|order|overflow(-wrap|-x|-y)?|place-(content|items)"
    r"|table-layout|text-(align|decoration|indent|overflow|shadow|transform)|vertical-align"
    r"|white-space|word-(break|spacing|wrap))"
)
# Nothing that fetches.
_FUNCTIONS = frozenset(
    {"calc", "clamp", "max", "min", "minmax", "repeat", "hsl", "hsla", "rgb", "rgba"}
    | {"conic-gradient", "linear-gradient", "radial-gradient"}
    | {"repeating-conic-gradient", "repeating-linear-gradient", "repeating-radial-gradient"}
)
_PLAIN = frozenset({"dimension", "hash", "ident", "number", "percentage", "whitespace"})
_LITERALS = frozenset(",/+-*")
_TEXT = re.compile(r"[\w\s#%.,()+*/!'\"-]*")
MOST_LENGTH = 10_000  # characters; measured: the worst so long take 20 ms, gradients have hundreds
MOST_DEPTH = 8  # functions in functions; a calc() in a minmax() in a repeat() is three


def harmless_style(style: str) -> str | None:
    """The style without what could load something or cover the page around it; None: nothing left.

    A style of which nothing is taken out stays exactly as it was written. Of one that is longer
    than `MOST_LENGTH` nothing stays.

    Examples:
        >>> harmless_style("color: red; background: url(https://example.org/x)")
        'color: red'
    """
    if len(style) > MOST_LENGTH:
        return None
    text = style.replace("\\", "@")  # escapes spell other words; no declaration here has an "@"
    try:
        # The last semicolon ends up inside of whatever was left open, where none may be.
        nodes: list[Node] = parse_blocks_contents(f"{text};", skip_whitespace=True)
    except ValueError:  # a number of more than 4300 digits; Python reads none
        return None
    kept = [node for node in nodes if isinstance(node, Declaration) and _is_harmless(node)]
    if len(kept) == len(nodes):
        return text
    return "; ".join(node.serialize().strip() for node in kept) or None


def _is_harmless(declaration: Declaration) -> bool:
    if not _PROPERTY.fullmatch(declaration.lower_name):
        return False
    return bool(declaration.value) and _are_harmless(declaration.value, depth=0)


def _are_harmless(values: Sequence[Node], *, depth: int) -> bool:
    return all(_is_harmless_value(value, depth=depth) for value in values)


def _is_harmless_value(value: Node, *, depth: int) -> bool:
    match value:
        case FunctionBlock() if value.lower_name in _FUNCTIONS and depth < MOST_DEPTH:
            return _are_harmless(value.arguments, depth=depth + 1)
        case StringToken():
            return _TEXT.fullmatch(value.value) is not None
        case LiteralToken():
            return value.value in _LITERALS
        case _:
            return value.type in _PLAIN
