"""The tool that shows HTML, cleaned to what Workspace renders."""

import asyncio
from typing import Annotated

from pydantic import Field

from copilot_admin.agent.tools.artifacts import ArtifactName, Description
from copilot_admin.agent.tools.clean_html import LONGEST, html_to_show
from copilot_admin.agent.tools.registry import ToolContext, ToolResult, tool
from protocol.events import ArtifactType


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
            description="HTML with inline styles; no scripts, frames or forms; images "
            "only as data: addresses, or from where your instructions say.",
        ),
    ],
) -> ToolResult:
    """Shows HTML to the user, such as cards with figures. Do not repeat it in your text."""
    # Measured: the worst 200,000 characters found take 0.9 seconds. The cleaner does not hold the lock
    # of the interpreter meanwhile, so that the event loop waits at most 20 ms.
    clean = await asyncio.to_thread(html_to_show, html, sources=context.html_sources)
    artifact = context.artifact(
        ArtifactType.HTML,
        name=name,
        description=description,
        content=clean,
    )
    return ToolResult(f"The user now sees {name!r}.", (artifact,))
