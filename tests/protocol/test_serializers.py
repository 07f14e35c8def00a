"""What each generation's client is told, with tables and HTML as text for those of old."""

from typing import Any

import pytest

from protocol.canonical import canonical
from protocol.events import (
    ArtifactType,
    Citation,
    CitationCollection,
    FunctionCall,
    MessageArtifact,
    StatusLevel,
    StatusUpdate,
)
from protocol.models import CallMessage, Generation
from protocol.parsing import parse_query
from protocol.serializers import MAX_CELLS, echo_of, html_text, markdown_table, serialize
from tests.protocol.examples import EVENTS as GOLDEN
from tests.protocol.examples import EXAMPLES, as_workspace_reads, golden, said


@pytest.mark.parametrize("generation", Generation)
@pytest.mark.parametrize("name", EXAMPLES)
class TestEveryExample:
    def test_has_its_golden_bytes(self, name: str, generation: Generation):
        assert said(name, generation) == golden(name, generation).read_bytes()

    def test_is_read_by_workspace(self, name: str, generation: Generation):
        events = list(serialize(EXAMPLES[name], generation))
        assert as_workspace_reads(said(name, generation)) == events


def test_every_golden_file_belongs_to_an_example():
    expected = {golden(name, generation) for name in EXAMPLES for generation in Generation}
    assert set(GOLDEN.iterdir()) == expected


def artifact(kind: ArtifactType, content: Any, **more: Any) -> MessageArtifact:
    about: Any = {"uuid": "u", "artifact_name": "n", "description": ""}
    return MessageArtifact(type=kind, content=content, **about, **more)


def test_required_fields_are_sent_even_when_empty():
    shown = {"type": "text", "uuid": "u", "name": "n", "description": "", "content": ""}
    said = serialize(artifact(ArtifactType.TEXT, ""), Generation.THREE)
    assert said == (("copilotMessageArtifact", shown),)
    call = FunctionCall(function="save_skill", input_arguments={})
    called = {"function": "save_skill", "input_arguments": {}}
    assert serialize(call, Generation.THREE) == (("copilotFunctionCall", called),)
    for empty in (artifact(ArtifactType.TABLE, []), artifact(ArtifactType.HTML, "<p></p>")):
        assert serialize(empty, Generation.ONE) == ()


LOADS = "![a](https://a.example/?b) !!![c][d] <img src=//a.example> &#33;[e](https://a.example)"
ROW = {LOADS: LOADS, "b": {"c": LOADS}, "d": [LOADS]}
AS_TABLE = artifact(ArtifactType.TABLE, [ROW])
AS_HTML = artifact(ArtifactType.HTML, LOADS.replace("<", "&lt;"))
AS_SOURCE = CitationCollection((Citation(id="1", source_info={"type": "widget", "name": LOADS}),))


@pytest.mark.parametrize(
    ("event", "generation"),
    [
        (AS_TABLE, Generation.ONE),
        (AS_SOURCE, Generation.ONE),
        (AS_HTML, Generation.ONE),
        (AS_HTML, Generation.TWO),
        (StatusUpdate(message="m", artifacts=(AS_HTML,)), Generation.TWO),
    ],
)
def test_what_is_said_as_text_loads_nothing_by_itself(event: Any, generation: Generation):
    told = str(serialize(event, generation))
    assert "[a](https://a.example/?b)" in told and "< img" in told
    assert "![" not in told and "<img" not in told


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ({"name": "News", "widget_id": "news"}, "News"),
        ({"name": "", "widget_id": "news"}, "news"),
        ({"origin": "OpenBB API"}, "OpenBB API"),
        ({"type": "web"}, "web"),
        ({"name": 7}, "source"),
    ],
)
def test_source_is_named_as_well_as_it_can_be(info: dict, expected: str):
    cited = CitationCollection((Citation(id="i", source_info=info),))
    [(_, data)] = serialize(cited, Generation.ONE)
    assert data == {"delta": f"\n\nSources: {expected}\n\n"}


def asked(function: str, arguments: Any, generation: Generation = Generation.THREE) -> Any:
    call = FunctionCall(function=function, input_arguments=arguments)
    [(_, data)] = serialize(call, generation)
    return data["input_arguments"]


def test_only_the_first_source_is_asked_in_generation_one():
    sources = {"data_sources": [{"widget_uuid": "a"}, {"widget_uuid": "b"}]}
    assert asked("get_widget_data", sources, Generation.ONE) == {"widget_uuid": "a"}


def test_sources_hold_what_every_client_accepts_and_other_arguments_stay():
    given = {"data_sources": [{"widget_uuid": "u", "id": "i", "input_args": {"to": None}, "x": 1}]}
    accepted = {"widget_uuid": "u", "origin": "", "id": "i", "input_args": {"to": None}}
    for function in ("get_widget_data", "get_extra_widget_data"):
        assert asked(function, given) == {"data_sources": [accepted]}
    assert asked("save_skill", given) == given


@pytest.mark.parametrize("generation", Generation)
def test_echo_of_a_call_is_recognised(generation: Generation):
    call = EXAMPLES["call"]
    assert isinstance(call, FunctionCall)
    [(_, data)] = serialize(call, generation)
    body: Any = {"messages": [{"role": "human", "content": "q"}, {"role": "ai", "content": data}]}
    echoed = parse_query(body).messages[1]
    assert isinstance(echoed, CallMessage)
    assert canonical(echoed) == canonical(echo_of(call, generation))


PLAIN = {"eventType": "INFO", "message": "Busy", "group": "reasoning"}
OWN_KEYS = (
    "lastUpdated", "source", "id", "uuid", "storedFileUUID", "url", "dataKey",
    "originalFilename", "extension", "category", "subCategory", "transcript_url",
)  # fmt: skip


def data_of(status: StatusUpdate, generation: Generation) -> list[Any]:
    return [data for _, data in serialize(status, generation)]


@pytest.mark.parametrize(
    ("changes", "two", "three"),
    [
        ({"hidden": True}, None, {"hidden": True}),
        ({"details": ({"day": "Mon"},)}, {"details": [{"day": "Mon"}]},
         {"details": [{"day": "Mon"}]}),
        ({"details": ("words", {"a": 1})}, {"details": [{"text": "words"}, {"a": 1}]},
         {"details": ["words", {"a": 1}]}),
        ({"details": ({"source": "x", "uuid": "y"}, "")}, {}, {}),  # no empty table
    ],
)  # fmt: skip
def test_steps_are_written_as_each_client_takes_them(changes: Any, two: Any, three: Any):
    status = StatusUpdate(message="Busy", **changes)
    assert data_of(status, Generation.ONE) == []
    assert data_of(status, Generation.TWO) == ([] if two is None else [{**PLAIN, **two}])
    assert data_of(status, Generation.THREE) == [{**PLAIN, **three}]


@pytest.mark.parametrize("key", OWN_KEYS)
@pytest.mark.parametrize("generation", [Generation.TWO, Generation.THREE])
def test_keys_that_a_client_keeps_to_itself_are_not_sent(key, generation):
    status = StatusUpdate(message="Busy", details=({key: "x", "kept": None, "day": "Mon"},))
    [data] = data_of(status, generation)
    assert data["details"] == [{"day": "Mon"}]


def test_no_level_makes_clients_delete_history():
    assert "ERROR" not in {level.value for level in StatusLevel}


@pytest.mark.parametrize(
    ("rows", "table"),
    [
        ([], ""),
        ([{}], ""),
        ([{"a": 1}], "| a |\n| --- |\n| 1 |"),
        ([{"a": 1}, {"b": 2}], "| a | b |\n| --- | --- |\n| 1 |  |\n|  | 2 |"),
        ([{"a|b": "x|y"}], "| a\\|b |\n| --- |\n| x\\|y |"),
        ([{"a": "two\r\nlines"}], "| a |\n| --- |\n| two lines |"),
        ([{"a": True}, {"a": False}], "| a |\n| --- |\n| yes |\n| no |"),
        ([{"a": [1, "b", [2]]}], "| a |\n| --- |\n| 1, b, … |"),
        ([{"a": {"x": 1, "y": {"z": 2}}}], "| a |\n| --- |\n| x: 1, y: … |"),
    ],
)
def test_rows_become_a_markdown_table(rows: list, table: str):
    assert markdown_table(rows) == table


def test_rows_that_are_too_many_for_a_table_are_counted_in_words():
    table = markdown_table([{"a": 1, "b": 2}] * (MAX_CELLS // 2 + 3))
    assert table.count("| 1 | 2 |") == MAX_CELLS // 2
    assert table.endswith("| 1 | 2 |\n\n3 more rows are left out: the table is too large.")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("plain", "plain"),
        ("<p>One</p><p>Two</p>", "One\nTwo"),
        ("<b>5 &lt; 6</b> &amp; more", "5 < 6 & more"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
        ("x<script>alert('</p>')</script>y", "xy"),
        ("x<STYLE>p{}</STYLE >y", "xy"),
        ("x<script>never closed <p>y</p>", "x"),
        ("x<script>closed badly</script", "x"),
        ("<div>a</div>\n\n\n\n<div>b</div>", "a\n\nb"),
        ("<!-- hidden -->shown", "shown"),
        ("a&#" + "1" * 5000 + ";b &#65;", "a\ufffdb A"),
        ("İ<style>x</style>y", "İy"),
    ],
)
def test_html_becomes_its_text(html: str, text: str):
    assert html_text(html) == text
