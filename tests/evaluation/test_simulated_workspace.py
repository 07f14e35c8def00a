"""Requests and results of a test case are those of Workspace."""

import json

from copilot_admin.copilots.test_cases import TestCaseEntry
from copilot_admin.evaluation.case_query import (
    first_messages,
    request_of,
    result_messages,
    result_of,
)
from protocol.parsing import parse_query

PRICES = {"id": "prices", "uuid": "6f1c1d5e-5a7b-4f0c-9a55-0b1f3f6f7a01", "rows": [{"close": 1}]}
NEWS = {"id": "news", "place": "extra", "text": "Acme grows."}
EMPTY = {"id": "empty", "place": "secondary"}
PDF = {"id": "report", "items": [{"content": "JVBE", "data_format": {"data_type": "pdf"}}]}
FILE = {"id": "file-a", "name": "a.TEXT", "content": "SGk="}
ENTRY = TestCaseEntry.model_validate(
    {
        "question": "What?",
        "earlier": [{"role": "human", "content": "Hi"}, {"role": "ai", "content": "Hello"}],
        "widgets": [PRICES, NEWS, EMPTY, PDF],
        "files": [FILE],
        "options": {"deep": True},
        "model": "m",
        "skills": [{"slug": "earnings", "description": "Reads a report."}],
        "results": {"get_skill_content": [{"items": []}]},
    }
)


def test_the_request_reads_as_one_of_workspace():
    query = parse_query(dict(request_of(ENTRY, first_messages(ENTRY))))
    assert query.notes == ()
    kinds = [type(one).__name__ for one in query.messages]
    assert kinds == ["HumanMessage", "AiMessage", "HumanMessage"]
    assert [one.widget_id for one in query.widgets.primary] == ["prices", "report", "file-a"]
    assert [one.widget_id for one in query.widgets.secondary] == ["empty"]
    assert [one.widget_id for one in query.widgets.extra] == ["news"]
    assert query.widgets.primary[0].columns == ("close",)
    assert [skill["slug"] for skill in query.skills_catalog] == ["earnings"]
    assert (query.model, query.timezone, query.workspace_options) == ("m", "UTC", {"deep": True})


def test_widgets_and_files_give_what_they_hold_by_either_name():
    def told(source: dict[str, str]) -> object:
        (data,) = result_of(ENTRY, "get_widget_data", {"data_sources": [source]})
        return data

    table = {"data_type": "object", "parse_as": "table"}
    rows = {"items": [{"content": json.dumps([{"close": 1}]), "data_format": table}]}
    assert told({"widget_uuid": PRICES["uuid"]}) == rows
    assert told({"id": "prices"}) == rows
    words = {"data_type": "object", "parse_as": "text"}
    assert told({"id": "news"}) == {"items": [{"content": "Acme grows.", "data_format": words}]}
    assert told({"id": "report"}) == {"items": PDF["items"]}
    text = {"data_type": "txt", "filename": "a.TEXT"}
    assert told({"id": "file-a"}) == {"items": [{"content": "SGk=", "data_format": text}]}
    for id in ("gone", "empty"):
        sentence = f"There is no data of the widget {id}."
        assert told({"id": id}) == {"error_type": "not_found", "content": sentence}


def test_call_and_result_are_appended_as_workspace_does():
    call = {"function": "f", "input_arguments": {"a": 1}, "extra_state": {"s": 2}}
    assert result_messages(ENTRY, call) == [
        {"role": "ai", "content": '{"function": "f", "input_arguments": {"a": 1}}'},
        {
            "role": "tool",
            "function": "f",
            "input_arguments": {"a": 1},
            "data": [{"status": "success", "message": "Done"}],
            "extra_state": {"s": 2},
        },
    ]
