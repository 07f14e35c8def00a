"""Says what an artifact of the chat is besides its content: how it is drawn, what it asks.

Source: the data format of generation 3. Workspace writes the content of every artifact as JSON, that
of a text as a JSON string; a chart has `chart_params`, a Snowflake query its `query_data_source`.
"""

import json

from protocol.json import Json
from protocol.models import DataItem

_TEXTS = ("text", "html", "snowflake_query", "snowflake_python")


def form_note(item: DataItem) -> str:
    """What its content does not say; empty where that is all there is."""
    form = item.data_format
    match form.get("parse_as"):
        case "chart":
            return _noted("a chart, drawn with", form.get("chart_params"))
        case "snowflake_query":
            return _noted("a Snowflake query, asked of", form.get("query_data_source"))
        case "snowflake_python":
            return "[Python code for Snowflake]"
        case _:
            return ""


def plain_content(item: DataItem) -> str:
    """The content; of an artifact that is a text the text itself."""
    is_text = item.data_format.get("parse_as") in _TEXTS  # a client may send a list, too
    if not is_text or not item.content.startswith('"'):
        return item.content
    try:
        text = json.loads(item.content)
    except ValueError:
        return item.content
    return text if isinstance(text, str) else item.content


def _noted(what: str, about: Json) -> str:
    detail = json.dumps(about, ensure_ascii=False) if about else ""
    return f"[{what} {detail}]" if detail else f"[{what.partition(',')[0]}]"
