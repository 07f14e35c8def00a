"""What each generation's client is told."""

from dataclasses import replace
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
from protocol.serializers import echo_of, serialize
from tests.protocol.examples import EXAMPLES
from tests.protocol.golden import EVENTS as GOLDEN
from tests.protocol.golden import golden, said
from tests.protocol.workspace import as_workspace_reads


@pytest.mark.parametrize("generation", Generation)
@pytest.mark.parametrize("name", EXAMPLES)
class TestEveryExample:
    def test_has_its_golden_bytes(self, name: str, generation: Generation):
        assert said(name, generation) == golden(name, generation).read_bytes()

    def test_is_read_by_workspace(self, name: str, generation: Generation):
        assert as_workspace_reads(said(name, generation)) == [
            (event, data) for event, data in serialize(EXAMPLES[name], generation)
        ]


def test_every_golden_file_belongs_to_an_example():
    expected = {golden(name, generation) for name in EXAMPLES for generation in Generation}
    assert set(GOLDEN.iterdir()) == expected


def test_required_fields_are_sent_even_when_empty():
    artifact = MessageArtifact(
        type=ArtifactType.TEXT, uuid="u", artifact_name="n", description="", content=""
    )
    assert serialize(artifact, Generation.THREE) == (
        (
            "copilotMessageArtifact",
            {"type": "text", "uuid": "u", "name": "n", "description": "", "content": ""},
        ),
    )
    call = FunctionCall(function="save_skill", input_arguments={})
    assert serialize(call, Generation.THREE) == (
        ("copilotFunctionCall", {"function": "save_skill", "input_arguments": {}}),
    )


@pytest.mark.parametrize(
    "artifact",
    [
        MessageArtifact(
            type=ArtifactType.TABLE, uuid="u", artifact_name="n", description="", content=[]
        ),
        MessageArtifact(
            type=ArtifactType.HTML, uuid="u", artifact_name="n", description="", content="<p></p>"
        ),
    ],
)
def test_empty_artifact_is_nothing_to_generation_one(artifact: MessageArtifact):
    assert serialize(artifact, Generation.ONE) == ()


LOADS = "![a](https://a.example/?b) !!![c][d] <img src=//a.example> &#33;[e](https://a.example)"
ROW = {LOADS: LOADS, "b": {"c": LOADS}, "d": [LOADS]}
AS_TABLE = MessageArtifact(
    type=ArtifactType.TABLE, uuid="u", artifact_name="n", description="", content=[ROW]
)
AS_HTML = replace(AS_TABLE, type=ArtifactType.HTML, content=LOADS.replace("<", "&lt;"))
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


def test_only_the_first_source_is_asked_in_generation_one():
    sources = [{"widget_uuid": "a"}, {"widget_uuid": "b"}]
    call = FunctionCall(function="get_widget_data", input_arguments={"data_sources": sources})
    [(_, data)] = serialize(call, Generation.ONE)
    assert data["input_arguments"] == {"widget_uuid": "a"}


def test_what_an_argument_leaves_open_stays_open():
    source = {"widget_uuid": "u", "origin": "o", "id": "i", "input_args": {"to": None}}
    for function, arguments in [
        ("get_widget_data", {"data_sources": [source]}),
        ("save_skill", {"input_args": {"to": None}}),
    ]:
        [(_, data)] = serialize(
            FunctionCall(function=function, input_arguments=arguments), Generation.THREE
        )
        assert data["input_arguments"] == arguments


def test_sources_hold_what_every_client_accepts_and_other_arguments_stay():
    given = {"data_sources": [{"widget_uuid": "u", "id": "i", "input_args": {}, "more": 1}]}
    accepted = {"data_sources": [{"widget_uuid": "u", "origin": "", "id": "i", "input_args": {}}]}

    def asked(function: str) -> Any:
        call = FunctionCall(function=function, input_arguments=given)
        [(_, data)] = serialize(call, Generation.THREE)
        return data["input_arguments"]

    assert asked("get_widget_data") == asked("get_extra_widget_data") == accepted
    assert asked("save_skill") == given


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
    ("generation", "expected"),
    [(Generation.ONE, []), (Generation.TWO, []), (Generation.THREE, [{**PLAIN, "hidden": True}])],
)
def test_a_hidden_step_is_for_those_who_know_how_to_hide_it(generation, expected):
    assert data_of(StatusUpdate(message="Busy", hidden=True), generation) == expected


@pytest.mark.parametrize(
    ("details", "two", "three"),
    [
        (({"day": "Mon"},), [{"day": "Mon"}], [{"day": "Mon"}]),
        (("words",), [{"text": "words"}], ["words"]),
        (("words", {"a": 1}), [{"text": "words"}, {"a": 1}], ["words", {"a": 1}]),
    ],
    ids=["object", "text", "both"],
)
def test_details_are_a_list_of_objects_and_texts_and_objects_alone_before(details, two, three):
    status = StatusUpdate(message="Busy", details=details)
    assert data_of(status, Generation.TWO) == [{**PLAIN, "details": two}]
    assert data_of(status, Generation.THREE) == [{**PLAIN, "details": three}]


@pytest.mark.parametrize("key", OWN_KEYS)
@pytest.mark.parametrize("generation", [Generation.TWO, Generation.THREE])
def test_keys_that_a_client_keeps_to_itself_are_not_sent(key, generation):
    status = StatusUpdate(message="Busy", details=({key: "x", "kept": None, "day": "Mon"},))
    [data] = data_of(status, generation)
    assert data["details"] == [{"day": "Mon"}]


@pytest.mark.parametrize("generation", [Generation.TWO, Generation.THREE])
def test_details_of_which_nothing_is_shown_are_no_empty_table(generation):
    hidden = {"source": "x", "uuid": "y"}
    assert data_of(StatusUpdate(message="Busy", details=(hidden, "")), generation) == [PLAIN]
    [data] = data_of(StatusUpdate(message="Busy", details=(hidden, {"a": 1})), generation)
    assert data == {**PLAIN, "details": [{"a": 1}]}


def test_no_level_makes_clients_delete_history():
    assert "ERROR" not in {level.value for level in StatusLevel}
