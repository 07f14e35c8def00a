"""Items of a client's data as text: a description, and their readable content."""

import json
import re

from copilot_admin.agent.documents.registry import format_of
from copilot_admin.agent.files.pictures import IMAGE_TYPES
from protocol.json import Json
from protocol.models import DataItem, FileReference

# 200 characters without a blank or a comma aren't natural language but encoded bytes.
_ENCODED = re.compile(r"(data:[\w/+.-]+;base64,)?[A-Za-z0-9+/=_-]{200,}\s*")
_TEXTS = ("text", "html", "snowflake_query", "snowflake_python")


def item_text(item: DataItem | FileReference) -> str:
    """Return the content of an item, or a note that it can't be read."""
    kind = str(item.data_format.get("data_type") or "file")
    name = str(item.data_format.get("filename") or "without a name")
    if isinstance(item, FileReference):
        return f"[the {kind} {name!r} is only linked; its content is not here]"
    if _is_binary(kind) or _ENCODED.fullmatch(item.content):
        return f"[the {kind} {name!r}, {len(item.content)} characters encoded; not readable here]"
    return plain_content(item)


def describe_artifact(item: DataItem) -> str:
    """Describe an artifact beyond its content: its chart parameters, or the source of its query.

    Source: the data format of generation 3. A chart has `chart_params`, a Snowflake query its
    `query_data_source`.
    """
    form = item.data_format
    match form.get("parse_as"):
        case "chart":
            return _note("a chart, drawn with", form.get("chart_params"))
        case "snowflake_query":
            return _note("a Snowflake query, asked of", form.get("query_data_source"))
        case "snowflake_python":
            return "[Python code for Snowflake]"
        case _:
            return ""


def plain_content(item: DataItem) -> str:
    """Return the content; Workspace sends textual artifacts as JSON, which is decoded."""
    is_text = item.data_format.get("parse_as") in _TEXTS  # a client may send a list, too
    if not is_text or not item.content.startswith('"'):
        return item.content
    try:
        text = json.loads(item.content)
    except ValueError:
        return item.content
    return text if isinstance(text, str) else item.content


def _is_binary(kind: str) -> bool:
    form = format_of(kind)
    return kind in IMAGE_TYPES or (form is not None and not form.is_text)


def _note(label: str, details: Json) -> str:
    if not details:
        return f"[{label.partition(',')[0]}]"
    return f"[{label} {json.dumps(details, ensure_ascii=False)}]"
