"""The tool that shows rows as a table."""

from copilot_admin.agent.tools.artifacts import ArtifactName, Description, Rows
from copilot_admin.agent.tools.registry import ToolContext, ToolResult, tool
from protocol.events import ArtifactType


@tool(samples=[{"name": "Prices", "description": "By day.", "rows": [{"day": "Mon", "price": 1}]}])
async def table(
    context: ToolContext, name: ArtifactName, description: Description, rows: Rows
) -> ToolResult:
    """Shows rows to the user as a table. Do not repeat the rows in your text."""
    artifact = context.artifact(
        ArtifactType.TABLE,
        name=name,
        description=description,
        content=rows,
    )
    return ToolResult(f"The user now sees the table {name!r} with {len(rows)} rows.", (artifact,))
