"""Tool that displays HTML, and the cleaning of HTML that a model writes.

Loading an image sends its URL to a server, and a prompt injection can make a model write data into
a URL. So images are data URLs or from origins that the copilot's builder allows.
"""

import asyncio
from collections.abc import Collection
from functools import partial
import re
from typing import Annotated

import nh3
from pydantic import Field

from copilot_admin.agent.tools.artifacts import ArtifactName, Description
from copilot_admin.agent.tools.tool import ToolContext, ToolMistake, ToolResult, tool
from protocol.events import ArtifactType, MessageArtifact
from protocol.serializers import html_text

MAX_CHARACTERS = 200_000
# Source: Workspace cleans with DOMPurify: no scripts, frames, forms or handlers; inline styles
# stay. Classes don't: the page's style sheet defines them, and `fixed inset-0` covers the page.
_TAGS = frozenset(nh3.ALLOWED_TAGS) | {"section", "article", "header", "footer", "main"}
_ATTRIBUTES = {
    **nh3.ALLOWED_ATTRIBUTES,
    "*": {"style", "title", "lang", "dir", "role"},
    "td": {"colspan", "rowspan", "headers", "align"},
    "th": {"colspan", "rowspan", "headers", "align", "scope"},
}
# No property that moves an element out of its place, and so over something else.
_STYLE_PROPERTY = re.compile(
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
# No backslash, which escapes names, and no comment.
_STYLE_VALUE = re.compile(r"(?!.*/\*)[\w\s#%.,()+*/!'\"-]+", re.DOTALL)
_STYLE_FUNCTION = re.compile(r"(?<![\w-])[\w-]*\(")
_STYLE_FUNCTIONS = frozenset(  # these load nothing
    {"calc(", "clamp(", "max(", "min(", "minmax(", "repeat(", "hsl(", "hsla(", "rgb(", "rgba("}
    | {f"{shape}-gradient(" for shape in ("conic", "linear", "radial")}
    | {f"repeating-{shape}-gradient(" for shape in ("conic", "linear", "radial")}
)
# Source: the HTML standard, "reconstruct the active formatting elements": an open one of these is
# reopened in every later paragraph, at most three times if the attributes are the same.
# Measured: 640,000 elements that the cleaner adds need 170 MB and 0.4 seconds.
_FORMATTING = re.compile(
    r"<(?:big|code|em|font|nobr|small|strike|strong|tt|[bisu])(?=[\s/>])"
    r"(?P<plain>(?:\s++[\w:-]++(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s\"'=<>`]++))?+)*+\s*+/?>)?",
    re.IGNORECASE,
)
_MAX_COPIES = 200_000
# For each nested element the cleaner searches all open ones. Measured: the worst 200,000 characters
# with so many need 1 second, without a limit 8.
_NESTING = re.compile(
    r"<(?!(?:br|col|dd|dt|hr|img|li|option|p|tbody|td|tfoot|th|thead|tr)[\s/>])[a-z]", re.IGNORECASE
)
_MAX_NESTING = 5_000


@tool
async def html(
    context: ToolContext,
    name: ArtifactName,
    description: Description,
    html: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_CHARACTERS,
            description="HTML with inline styles; no scripts, frames or forms; images "
            "only as data: addresses, or from where your instructions say.",
        ),
    ],
) -> ToolResult:
    """Shows HTML to the user, such as cards with figures. Do not repeat it in your text."""
    # Up to a second of work; the cleaner releases the lock of the interpreter.
    clean = await asyncio.to_thread(prepare_html, html, sources=context.html_sources)
    artifact = MessageArtifact(
        type=ArtifactType.HTML,
        uuid=str(context.id),
        artifact_name=name,
        description=description,
        content=clean,
    )
    return ToolResult(f"The user now sees {name!r}.", (artifact,))


def prepare_html(html: str, *, sources: Collection[str]) -> str:
    """Clean HTML for display, with a box around styled HTML.

    Images may be loaded from the origins in `sources`, such as "https://charts.example.com".

    Raises:
        ToolMistake: Nothing is left to display, or cleaning would be too slow.
    """
    if len(_NESTING.findall(html)) > _MAX_NESTING or _count_copies(html) > _MAX_COPIES:
        raise ToolMistake(
            "The HTML has too many elements, or too many different inline ones such as <b> and "
            "<small>. Use fewer elements, close each one where it ends, and style whole blocks."
        )
    clean = clean_html(html, sources=sources)
    if not html_text(clean).strip() and ' src="' not in clean:
        raise ToolMistake(
            "Nothing of the HTML can be shown: scripts, styles, frames, forms and images from "
            "elsewhere are taken out."
        )
    # Margins and shadows may overlap adjacent content; a box clips them and scrolls.
    is_styled = ' style="' in clean
    return f'<div style="height:100%;overflow:auto">{clean}</div>' if is_styled else clean


def clean_html(html: str, *, sources: Collection[str] = ()) -> str:
    """Remove all that runs, loads, requests input or styles the page around the HTML."""
    return nh3.clean(
        html,
        tags=set(_TAGS),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        attribute_filter=partial(_filter_attribute, sources),
        url_schemes={"https", "http", "mailto", "data"},
    )


def _count_copies(html: str) -> int:
    """Return the maximum of elements that the cleaner can add if no inline element is closed."""
    tags = _FORMATTING.finditer(html)  # identical ones count as one, unless the syntax is unusual
    different = {tag[0] if tag["plain"] else str(tag.start()) for tag in tags}
    return len(different) * html.count("<")


def _filter_attribute(sources: Collection[str], tag: str, name: str, value: str) -> str | None:
    if name == "style":
        return _filter_style(value)
    if tag == "img" and name == "src":
        # A URL that begins with an origin and a slash is of this origin, whatever follows.
        allowed = ("data:image/", *(f"{source}/" for source in sources))
        return value if value.strip().lower().startswith(allowed) else None
    if name in ("href", "cite"):
        visible = "".join(letter for letter in value if letter > " ")
        return None if visible.lower().startswith("data:") else value
    return value


def _filter_style(style: str) -> str | None:
    """Remove declarations that could load something or cover the page; None if all are removed.

    The style filter of nh3 can't be used: it damages functions within functions, such as
    `linear-gradient(rgba(...))`.
    """
    declarations = style.split(";")
    kept = [one for one in declarations if not one.strip() or _is_harmless(one)]
    return ";".join(kept).strip() or None


def _is_harmless(declaration: str) -> bool:
    name, _, value = declaration.partition(":")
    return (
        _STYLE_PROPERTY.fullmatch(name.strip().lower()) is not None
        and _STYLE_VALUE.fullmatch(value.strip()) is not None
        and all(value.count(quote) % 2 == 0 for quote in "'\"")
        and value.count("(") == value.count(")")
        and _STYLE_FUNCTIONS.issuperset(_STYLE_FUNCTION.findall(value.lower()))
    )
