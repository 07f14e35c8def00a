"""The tool that shows HTML, cleaned to what Workspace renders."""

from typing import Annotated

import nh3
from pydantic import Field

from copilot_admin.engine.artifacts import ArtifactName, Description, unique_name
from copilot_admin.engine.inline_styles import harmless_style
from copilot_admin.engine.tool_arguments import ToolMistake
from copilot_admin.engine.tools.registry import ToolContext, ToolResult, tool
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
_EMPTY = "Nothing of the HTML can be shown: scripts, styles, frames and forms are taken out."


@tool
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
    clean = cleaned(html)
    if not html_text(clean).strip() and "<img" not in clean:
        raise ToolMistake(_EMPTY)
    artifact = MessageArtifact(
        type=ArtifactType.HTML,
        uuid=str(context.id),
        artifact_name=unique_name(name, id=context.id),
        description=description,
        content=clean,
    )
    return ToolResult(f"The user now sees {name!r}.", (artifact,))


def cleaned(html: str) -> str:
    """The HTML with nothing in it that runs, asks for input or styles the page around it."""
    return nh3.clean(
        html,
        tags=set(_TAGS),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        attribute_filter=_attribute,
        url_schemes={"https", "http", "mailto", "data"},
    )


def _attribute(tag: str, name: str, value: str) -> str | None:
    return harmless_style(value) if name == "style" else value
