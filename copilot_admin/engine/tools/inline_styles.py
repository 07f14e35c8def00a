"""Inline styles that a model writes: kept as they are, as far as they only style."""

import re

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
# Nothing that fetches, and nothing with which CSS spells another word: escapes, comments, @.
_FUNCTION = re.compile(r"(?<![\w-])([\w-]*+)\(")  # tried once for each word: linear
_FUNCTIONS = frozenset(
    {"calc", "clamp", "max", "min", "minmax", "repeat", "hsl", "hsla", "rgb", "rgba"}
    | {"conic-gradient", "linear-gradient", "radial-gradient"}
    | {"repeating-conic-gradient", "repeating-linear-gradient", "repeating-radial-gradient"}
)
_VALUE = re.compile(r"(?!.*/\*)[\w\s#%.,()+*/!'\"-]*")


def harmless_style(style: str) -> str | None:
    """The style without what could load something or cover the page around it; None: nothing left.

    A style of which nothing is taken out stays exactly as it was written.

    Examples:
        >>> harmless_style("color: red; background: url(https://example.org/x)")
        'color: red'
    """
    declarations = [one for one in style.split(";") if one.strip()]
    kept = [one.strip() for one in declarations if _is_harmless(one)]
    if len(kept) == len(declarations):
        return style
    return "; ".join(kept) or None


def _is_harmless(declaration: str) -> bool:
    name, _, value = declaration.partition(":")
    if not _PROPERTY.fullmatch(name.strip().lower()) or not value or not _VALUE.fullmatch(value):
        return False
    if value.count("(") != value.count(")") or value.count("'") % 2 or value.count('"') % 2:
        return False
    return _FUNCTIONS.issuperset(_FUNCTION.findall(value.lower()))
