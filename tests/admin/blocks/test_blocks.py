"""An answer as the blocks that its reader sees."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from copilot_admin.admin.blocks.blocks import build_blocks
from copilot_admin.admin.blocks.kinds import (
    PAGE_LIMITS,
    ArtifactBlock,
    CallBlock,
    CitationsBlock,
    DataExcerpt,
    FileLine,
    FilesBlock,
    FoldBlock,
    StepsBlock,
    SuggestionsBlock,
    TextBlock,
    build_excerpt,
)
from copilot_admin.models import Event, EventType, Node, Outcome, Run
from copilot_admin.transcripts.queries.reading import CallView, RunView
from protocol.json import JsonObject

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def message(node_id: int, *data: JsonObject, asked: tuple[str, ...] = ()) -> Node:
    sources = [{"origin": "OpenBB API", "id": name} for name in asked]
    node = Node(pk=node_id, role="tool", kind="result")
    node.data = {"function": "f", "input_arguments": {"data_sources": sources}, "data": list(data)}
    return node


def call(*results: Node, arguments: JsonObject | None = None) -> CallView:
    return CallView(
        function="get_widget_data", arguments=arguments, echo_differs=False, results=results
    )


def run(answer: str = "", *events: Event, **changes: Any) -> RunView:
    row = Run(id=uuid4(), outcome=Outcome.COMPLETED, provider="p", model="m", generation=3)
    row.started_at, row.ttft_ms, row.ms = NOW, 1, 2
    return RunView(row=row, answer=answer, events=events, **changes)


def event(kind: str, payload: JsonObject | None, *, at: int = 0, ord: int = 0) -> Event:
    return Event(ord=ord, type=str(kind), payload=payload, text_offset=at, at_ms=10)


def blocks(*args: Any, **changes: Any) -> list[Any]:
    return list(build_blocks(run(*args, **changes)))


def step(text: str, **more: Any) -> JsonObject:
    return {"eventType": "INFO", "message": text, "group": "reasoning", **more}


def test_text_and_events_stand_in_the_order_in_which_they_were_seen():
    found = blocks(
        "Before. After.",
        event(EventType.ARTIFACT, {"type": "text", "name": "N", "content": "x"}, at=8, ord=1),
        event(EventType.STATUS, step("one"), ord=0),
        event(EventType.STATUS, step("two"), at=14, ord=2),
        event(EventType.STATUS, step("three"), at=14, ord=3),
    )
    assert [type(block) for block in found] == [
        StepsBlock,
        TextBlock,
        ArtifactBlock,
        TextBlock,
        StepsBlock,
    ]
    assert [block.text for block in found if isinstance(block, TextBlock)] == ["Before. ", "After."]
    assert [one.message for one in found[-1].steps] == ["two", "three"]


def test_a_step_has_details_as_a_table_a_text_or_an_artifact():
    payload = step(
        "read",
        eventType="WARNING",
        hidden=True,
        details=[{"a": 1}, {"a": 2}],
        artifacts=[{"content": [{"b": 1}]}, {"content": ""}],
    )
    (block,) = blocks(
        "",
        event(EventType.STATUS, payload),
        event(EventType.STATUS, step("x", details=["t", {}]), ord=1),
    )
    first, second = block.steps
    assert (first.is_warning, first.hidden) == (True, True)
    assert [content.table.heads[0].text for content in first.details] == ["a", "b"]
    assert (second.is_warning, second.hidden) == (False, False)
    assert [content.text for content in second.details] == ["t"]


def test_a_chart_shows_its_own_columns_beside_it():
    rows = [{"other": 1, "day": "a", "close": 2}]
    payload = {
        "type": "chart",
        "name": "C",
        "description": "D",
        "content": rows,
        "chart_params": {"chartType": "bar", "xKey": "day", "yKey": ["close"]},
    }
    (block,) = blocks("", event(EventType.ARTIFACT, payload))
    assert block.chart.kind == "bar"
    assert [head.text for head in block.content.table.heads] == ["day", "close"]


def test_html_is_shown_as_its_text_and_as_it_was_sent():
    payload = {"type": "html", "content": "<p>Hi <script>alert(1)</script></p>"}
    (block,) = blocks("", event(EventType.ARTIFACT, payload))
    assert (block.content.text, block.source) == ("Hi", "<p>Hi <script>alert(1)</script></p>")


def test_citations_name_their_widget_and_its_arguments():
    full = {
        "type": "widget",
        "name": "Prices",
        "origin": "OpenBB",
        "widget_id": "prices",
        "metadata": {"input_args": {"symbol": "AAPL", "n": 5}},
    }
    payload = {
        "citations": [
            {"source_info": full, "details": [{"a": 1}]},
            {"source_info": {"type": "web"}},
            {},
        ]
    }
    (block,) = blocks("", event(EventType.CITATION, payload))
    assert isinstance(block, CitationsBlock)
    assert [(one.name, one.place, one.arguments) for one in block.sources] == [
        ("Prices", "OpenBB / prices", (("symbol", "AAPL"), ("n", "5"))),
        ("web", "", ()),
        ("", "", ()),
    ]
    assert block.sources[0].details.table.heads[0].text == "a"


def test_tools_thoughts_and_suggestions_have_blocks_of_their_own():
    found = blocks(
        "",
        event(EventType.TOOL, {"name": "clock", "arguments": {}, "result": "12:00"}),
        event(EventType.REASONING, {"text": "Hm"}, ord=1),
        event(EventType.SUGGESTIONS, {"suggestions": ["a", 5, "b"]}, ord=2),
        event(EventType.FUNCTION_CALL, {"x": 1}, ord=3),
    )
    assert [type(block) for block in found] == [FoldBlock, FoldBlock, SuggestionsBlock, FoldBlock]
    assert found[0].name == "clock"
    assert [one.content.text for one in found[0].sections] == ["", "12:00"]
    assert found[1].sections[0].content.text == "Hm"
    assert found[2].suggestions == ("a", "b")


def test_files_that_follow_each_other_are_one_list_with_what_is_known_of_each():
    payloads = [
        {"name": "chart.png", "type": "png", "size": 2048, "pixels": [800, 600], "note": "unseen"},
        {"name": "report.pdf", "type": "pdf", "size": 3 * 2**20, "pages": 1},
        {"name": "a.xlsx", "type": "xlsx", "size": 1, "pages": 2},
        {"name": "a.txt", "type": "txt", "size": 0, "pages": 1},
        {"name": "a.odd", "type": "odd", "pages": 3},
        {"name": "lost.pdf", "type": "pdf", "fault": "The link has expired."},
        {"pixels": ["a", True, 3], "pages": "x", "size": True},
    ]
    events = [event(EventType.FILE, one, ord=number) for number, one in enumerate(payloads)]
    found = blocks("", *events, event(EventType.STATUS, {"message": "Step"}, ord=9))
    assert [type(block) for block in found] == [FilesBlock, StepsBlock]
    nothing = {"note": "", "fault": ""}
    assert found[0].files == (
        FileLine(
            name="chart.png",
            facts=("PNG", "800 x 600 pixels", "2.0\xa0KB"),
            note="unseen",
            fault="",
        ),
        FileLine(name="report.pdf", facts=("PDF", "1 page", "3.0\xa0MB"), **nothing),
        FileLine(name="a.xlsx", facts=("XLSX", "2 sheets", "1\xa0byte"), **nothing),
        FileLine(name="a.txt", facts=("TXT", "0\xa0bytes"), **nothing),
        FileLine(name="a.odd", facts=("ODD", "3 pages"), **nothing),
        FileLine(name="lost.pdf", facts=("PDF",), note="", fault="The link has expired."),
        FileLine(name="", facts=(), **nothing),
    )


def test_the_data_messages_of_a_run_are_one_block_with_their_kinds():
    texts = (
        "## Data: ¶user\n{}\nWho asks.",
        "## Data: ¶widget_data\n_instance: w-1\n[\n  1\n]",
        "## Data: ¶widget_data\n_instance: w-2",
    )
    shown = [event(EventType.DATA, {"text": text}, ord=n) for n, text in enumerate(texts)]

    block, said = blocks("Hello", *shown)

    assert isinstance(block, FoldBlock)
    assert [(one.label, one.content.text) for one in block.sections] == [
        ("¶user", "{}\nWho asks."),
        ("¶widget_data w-1", "[\n  1\n]"),
        ("¶widget_data w-2", ""),
    ]
    assert block.facts == ("¶user", "¶widget_data (2)")
    assert block.key == block.sections[0].content.key
    assert isinstance(said, TextBlock)


@pytest.mark.parametrize("kind", EventType)
@pytest.mark.parametrize(
    "payload",
    [{}, {"content": 5}, {"citations": {"a": 1}}, {"details": "x"}, {"suggestions": "abc"}],
)
def test_no_stored_payload_breaks_the_page(kind: EventType, payload: JsonObject):
    assert len(blocks("", event(kind, payload))) == 1


def test_a_call_is_shown_once_with_what_came_back():
    results = message(
        7,
        {
            "items": [
                {"content": '[{"a": 1}]'},
                {"content": "text", "data_format": {"filename": "f.txt"}},
            ]
        },
        {"error_type": "not_found", "content": "Gone."},
        {"status": "error", "message": "No.", "data": {}},
        {"items": [{"url": "https://files.example/x.pdf", "data_format": {"filename": "x.pdf"}}]},
        asked=("prices", "news"),
    )
    payload = {"function": "get_widget_data", "input_arguments": {"a": 1}}
    (block,) = blocks(
        "", event(EventType.FUNCTION_CALL, payload), call=call(results, arguments={"a": 1})
    )
    assert isinstance(block, CallBlock)
    assert block.failed
    (answered,) = block.results
    assert [
        (one.name, one.error, one.status, one.file, one.failed) for one in answered.sources
    ] == [
        ("OpenBB API / prices", "", "", "", False),
        ("f.txt", "", "", "", False),
        ("OpenBB API / news", "Gone.", "", "", True),
        ("", "", "error", "", True),
        ("x.pdf", "", "", "https://files.example/x.pdf", False),
    ]
    assert answered.sources[0].content.table.heads[0].text == "a"


@pytest.mark.parametrize(
    ("value", "content"),
    [
        (None, DataExcerpt(key="k")),
        ({}, DataExcerpt(key="k")),
        ("", DataExcerpt(key="k")),
        ("text", DataExcerpt(key="k", text="text")),
        ("[broken", DataExcerpt(key="k", text="[broken")),
        ('{"a": 1}', DataExcerpt(key="k", text='{\n  "a": 1\n}', is_code=True)),
        (5, DataExcerpt(key="k", text="5", is_code=True)),
        ("x" * 5000, DataExcerpt(key="k", text="x" * PAGE_LIMITS.text, is_cut=True)),
    ],
)
def test_data_is_shown_in_the_form_it_has(value, content):
    assert build_excerpt(value, key="k") == content
