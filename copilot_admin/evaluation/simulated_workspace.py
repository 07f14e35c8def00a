"""Workspace, simulated from the test data: its requests, and the results of client functions."""

from collections.abc import Mapping, Sequence
import json
from typing import Any

from copilot_admin.copilots.test_cases import FileEntry, TestCaseEntry, WidgetEntry
from protocol.functions import WIDGET_DATA_FUNCTIONS
from protocol.json import Json, JsonObject

UPLOADS = "OpenBB Hub"  # the origin of files, for Workspace
DONE: JsonObject = {"status": "success", "message": "Done"}  # of a function that returns no data


def first_messages(entry: TestCaseEntry) -> list[JsonObject]:
    earlier = [{"role": one.role, "content": one.content} for one in entry.earlier]
    return [*earlier, {"role": "human", "content": entry.question}]


def request_of(entry: TestCaseEntry, messages: Sequence[JsonObject]) -> JsonObject:
    widgets: dict[str, list[Json]] = {"primary": [], "secondary": [], "extra": []}
    for widget in entry.widgets:
        widgets[widget.place].append(_widget(widget))
    widgets["primary"] += [_file_widget(file) for file in entry.files]
    return {
        "messages": list(messages),
        "widgets": widgets,
        "context": [],
        "tools": entry.tools,
        "workspace_options": entry.options,
        "timezone": entry.timezone or "UTC",
        **({"skills_catalog": entry.skills} if entry.skills else {}),
        **({"model": entry.model} if entry.model else {}),
    }


def result_messages(entry: TestCaseEntry, call: Mapping[str, Any]) -> list[JsonObject]:
    """Return a call and its result, as Workspace appends them to the chat."""
    made = {"function": call["function"], "input_arguments": call["input_arguments"]}
    return [
        {"role": "ai", "content": json.dumps(made)},
        {
            "role": "tool",
            **made,
            "data": result_of(entry, call["function"], call["input_arguments"]),
            "extra_state": call.get("extra_state") or {},
        },
    ]


def result_of(entry: TestCaseEntry, function: str, given: Mapping[str, Any]) -> list[Json]:
    """Return the data of a result: the widgets' data, else the test data."""
    if function in WIDGET_DATA_FUNCTIONS:
        return [_data_of(entry, source) for source in given.get("data_sources") or ()]
    saved: Sequence[Json] | None = entry.results.get(function)
    return [DONE] if saved is None else list(saved)


def _data_of(entry: TestCaseEntry, source: Mapping[str, Any]) -> JsonObject:
    uuid, id = source.get("widget_uuid"), source.get("id")
    # A dashboard may contain a widget twice; the uuid distinguishes two with the same id.
    alike = [one for one in entry.widgets if uuid == one.effective_uuid or id == one.id]
    if alike:
        found = _items(next((one for one in alike if uuid == one.effective_uuid), alike[0]))
    else:
        file = next((one for one in entry.files if one.id == id), None)
        found = None if file is None else [{"content": file.content, "data_format": _format(file)}]
    if found is None:
        return {"error_type": "not_found", "content": f"There is no data of the widget {id}."}
    return {"items": found}


def _items(widget: WidgetEntry) -> list[Json] | None:
    if widget.rows is not None:
        return [_item(json.dumps(widget.rows), parse_as="table")]
    if widget.text is not None:
        return [_item(widget.text, parse_as="text")]
    return None if widget.items is None else list(widget.items)


def _item(content: str, *, parse_as: str) -> JsonObject:
    return {"content": content, "data_format": {"data_type": "object", "parse_as": parse_as}}


def _widget(widget: WidgetEntry) -> JsonObject:
    return {
        "uuid": widget.effective_uuid,
        "origin": widget.origin,
        "widget_id": widget.id,
        "name": widget.name or widget.id,
        "description": widget.description,
        "category": widget.category,
        "columns": widget.columns or list(widget.rows[0] if widget.rows else ()),
        "params": widget.params,
        "metadata": {},
    }


def _file_widget(file: FileEntry) -> JsonObject:
    about = {"name": file.name, "description": file.name}
    return {"origin": UPLOADS, "widget_id": file.id, **about, "params": [], "metadata": {}}


def _format(file: FileEntry) -> JsonObject:
    kind = file.name.rpartition(".")[2].lower()
    return {"data_type": "txt" if kind == "text" else kind, "filename": file.name}
