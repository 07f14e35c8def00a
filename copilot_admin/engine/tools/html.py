"""The tool that shows HTML, cleaned to what Workspace renders."""

import asyncio
import re
from typing import Annotated

import nh3
from pydantic import Field

from copilot_admin.engine.tools.artifacts import ArtifactName, Description, unique_name
from copilot_admin.engine.tools.inline_styles import harmless_style
from copilot_admin.engine.tools.registry import ToolContext, ToolResult, tool
from copilot_admin.engine.tools.tool_arguments import ToolMistake
from protocol.events import ArtifactType, MessageArtifact
from protocol.plain_text import html_text

LONGEST = 200_000  # characters
# Source: Workspace cleans with DOMPurify: no scripts, frames, forms or handlers; inline styles
# stay.
_TAGS = frozenset(nh3.ALLOWED_TAGS) | {"section", "article", "header", "footer", "main"}
_ATTRIBUTES = {
    **nh3.ALLOWED_ATTRIBUTES,
    "*": {"style", "class", "title", "lang", "dir", "role"},
    "td": {"colspan", "rowspan", "headers", "align"},
    "th": {"colspan", "rowspan", "headers", "align", "scope"},
}
# Source: the HTML standard, "reconstruct the active formatting elements": what of these is left open
# is opened again in every later paragraph, at most three times where the attributes are the same.
_FORMATTING = re.compile(
    r"<(?:big|code|em|font|nobr|small|strike|strong|tt|[bisu])(?=[\s/>])"
    r"(?P<plain>(?:\s++[\w:-]++(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s\"'=<>`]++))?+)*+\s*+/?>)?",
    re.IGNORECASE,
)
# Measured: 640,000 elements that the cleaner adds take 170 MB and 0.4 seconds.
_MOST_COPIES = 200_000
# What may stand in itself; for each element the cleaner looks through all that are still open.
_NESTING = re.compile(
    r"<(?!(?:br|col|dd|dt|hr|img|li|option|p|tbody|td|tfoot|th|thead|tr)[\s/>])[a-z]", re.IGNORECASE
)
# Measured: the worst 200,000 characters found with so many take 1 second, without a limit 8.
_MOST_NESTING = 5_000
_TOO_COSTLY = (
    "The HTML has too many elements, or too many different inline ones such as <b> and <small>. "
    "Use fewer elements, close each one where it ends, and style whole blocks."
)
_EMPTY = "Nothing of the HTML can be shown: scripts, styles, frames and forms are taken out."


@tool(samples=[{"name": "Card", "description": "One figure.", "html": "<p>4.5 %</p>"}])
async def html(
    context: ToolContext,
    name: ArtifactName,
    description: Description,
    html: Annotated[
        str,
        Field(
            min_length=1,
            max_length=LONGEST,
            description="HTML with inline styles; no scripts, frames or forms.",
        ),
    ],
) -> ToolResult:
    """Shows HTML to the user, such as cards with figures. Do not repeat it in your text."""
    # Measured: the worst 200,000 characters found take 0.9 seconds. The cleaner does not hold the lock
    # of the interpreter meanwhile, so that the event loop waits at most 20 ms.
    clean = await asyncio.to_thread(_shown, html)
    artifact = MessageArtifact(
        type=ArtifactType.HTML,
        uuid=str(context.id),
        artifact_name=unique_name(name, id=context.id),
        description=description,
        content=clean,
    )
    return ToolResult(f"The user now sees {name!r}.", (artifact,))


def _shown(html: str) -> str:
    """What the user sees of it."""
    if is_too_costly(html):
        raise ToolMistake(_TOO_COSTLY)
    clean = cleaned(html)
    if not html_text(clean).strip() and "<img" not in clean:
        raise ToolMistake(_EMPTY)
    return clean


def is_too_costly(html: str) -> bool:
    """Whether cleaning could take seconds or gigabytes, by elements in each other or repeated."""
    return len(_NESTING.findall(html)) > _MOST_NESTING or _copies(html) > _MOST_COPIES


def cleaned(html: str) -> str:
    """The HTML with nothing in it that runs, asks for input or styles the page around it."""
    return nh3.clean(
        html,
        tags=set(_TAGS),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        attribute_filter=_attribute,
        url_schemes={"https", "http", "mailto", "data"},
    )


def _copies(html: str) -> int:
    """How many elements the cleaner may have to add at most, if none of the inline ones is closed.

    Tags that are written alike count once; one that is written oddly counts for itself.
    """
    tags = _FORMATTING.finditer(html)
    different = {tag[0] if tag["plain"] else str(tag.start()) for tag in tags}
    return len(different) * html.count("<")


def _attribute(tag: str, name: str, value: str) -> str | None:
    return harmless_style(value) if name == "style" else value
