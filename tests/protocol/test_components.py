"""Content, messages and merging of components; the vectors bear the specification's numbers."""

from typing import Any

import pytest

from protocol.components import (
    PAYLOADS,
    ComponentOutput,
    ContentType,
    ContractBreach,
    Message,
    OutputRole,
    collect,
    create_output,
    create_outputs,
    from_caller,
    llm_text,
    merge,
    one_usage,
    total_usage,
)


def text(info: str, **more: Any) -> ComponentOutput:
    return create_output("text", info, **more)


def seen(output: ComponentOutput) -> list[tuple[str, str, dict[str, Any]]]:
    """Type, name and payload of each element, without what is empty."""
    return [
        (one.type.value, one.name, {k: v for k, v in one.text.model_dump().items() if v})
        for one in output.content
    ]


A, B = (create_output("references", {"title": title}) for title in "AB")
REFERENCES = [("references", "", {"title": title}) for title in "AB"]
LINKS = create_outputs([create_output("urls", "u1"), create_output("urls", "u2")])
HALF, DONE = ({"progress": part, "message": "m"} for part in (0.5, 1.0))


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ([text("Hel"), text("lo")], [("text", "", {"info": "Hello"})]),  # vector 1
        ([A, text("x"), B], [*REFERENCES, ("text", "", {"info": "x"})]),  # 2 and 3
        ([text("a", name="p"), text("b", name="q"), text("c", name="p")],  # 4
         [("text", "p", {"info": "ac"}), ("text", "q", {"info": "b"})]),
        ([LINKS, create_output("urls", "u3")],  # 7
         [("urls", "", {"url": url}) for url in ("u1", "u2", "u3")]),
        ([create_output("progress", HALF), create_output("progress", DONE), text("ok")],  # 12
         [("progress", "", DONE), ("text", "", {"info": "ok"})]),
        ([create_output("reasoning_content", "hm"), create_output("tought", "m"), text("42")],  # 13
         [("thought", "", {"info": "hmm"}), ("text", "", {"info": "42"})]),
        ([text("x", visible_scope=""), text("y", visible_scope="all"),  # 14
          text("z", visible_scope=None)], [("text", "", {"info": "xyz"})]),
    ],
)  # fmt: skip
def test_outputs_are_merged_as_in_the_vectors(outputs: list, expected: list):
    assert seen(merge(outputs)) == expected
    assert merge([merge(outputs)]) == merge(outputs)


FILES = [
    create_output("files", {"filename": name, "url": ""}, visible_scope=scope)
    for name, scope in (("a.csv", "user"), ("b.csv", "all"))
]
IMAGE = create_output("image", {"filename": "", "url": "u", "base64": "AA"}, name="link")
CHART = create_output("chart", {"type": "line", "data": '[{"x":1}]'}, name="c")


@pytest.mark.parametrize(
    ("outputs", "lines"),
    [
        ([text("for model", visible_scope="llm"), text("", visible_scope="user"), text("both")],
         ["for model", "both"]),  # vector 5
        ([], [""]),  # 11
        ([create_output("progress", HALF), create_output("thought", "hm"), text("ok")], ["ok"]),
        ([CHART, create_output("json", '{"n": 1}')],  # 16
         [r'{"type": "chart", "name": "c", "text": {"type": "line", "data": "[{\"x\":1}]"}}',
          r'{"type": "json", "text": {"data": "{\"n\": 1}"}}']),
        (FILES, ['{"type": "files", "text": {"filename": "b.csv"}}']),  # 17
        ([IMAGE, create_output("urls", "j", name="jump")],  # 19
         ['{"type": "image", "name": "link", "text": {"url": "u", "mime_type": "jpeg"}}',
          '{"type": "urls", "name": "jump", "text": {"url": "j"}}']),
    ],
)  # fmt: skip
def test_model_reads_what_is_meant_for_it(outputs: list, lines: list[str]):
    assert llm_text(merge(outputs)).split("\n") == lines


def test_vector_10_the_last_role_wins_and_collecting_keeps_every_piece():
    outputs = [text("a", role="tool"), text("b", role="assistant")]
    assert merge(outputs).role is OutputRole.ASSISTANT
    assert len(collect(outputs).content) == 2
    assert merge([]).to_json() == collect([]).to_json() == {"role": "tool", "content": []}


def used(name: str, first: int, second: int) -> dict[str, Any]:
    counts = {"prompt_tokens": first, "completion_tokens": second}
    return {**counts, "total_tokens": first + second, "name": name}


def test_usage_may_be_a_list():
    """Source: "usage | list of dict" among the returned fields of the contract."""
    small, large = used("small", 5, 1), used("large", 7, 2)
    merged = merge([text("a"), text("x", usage=[small, large]), text("b", usage=None)])
    assert merged.content[0].usage == [small, large]
    assert total_usage(merged) == (small, large)
    assert one_usage(merged) == used("small, large", 12, 3)


def test_vectors_8_9_and_15_last_usage_counts_raw_data_is_updated_and_times_span_all():
    counted = used("m", 5, 2)
    pieces = (
        text("a", usage=counted, raw_data={"i": 0, "k": "x"},
             metrics={"begin_timestamp": 10, "end_timestamp": 14}),
        text("b", raw_data={"i": 1}, metrics={"begin_timestamp": 11, "end_timestamp": 12}),
    )  # fmt: skip
    (content,) = merge(pieces).content
    assert (content.text.model_dump(), content.usage) == ({"info": "ab"}, counted)
    assert content.raw_data == {"i": 1, "k": "x"}
    assert content.metrics == {"begin_timestamp": 10, "end_timestamp": 14}


def test_construction_1_an_output_stands_on_the_wire_with_all_its_keys():
    empty: dict[str, Any] = {"raw_data": {}, "usage": {}, "metrics": {}}
    element = {"name": "", "visible_scope": "all", **empty, "type": "text", "text": {"info": "hi"}}
    assert text("hi").to_json() == {"role": "tool", "content": [element]}
    assert text("hi").model_dump() == text("hi").to_json()
    assert type(text("hi").model_dump()["role"]) is OutputRole


@pytest.mark.parametrize(
    ("type", "given", "sentence"),
    [
        ("files", "x", "The type files takes no bare text"),
        ("thought_x", "x", "Unknown type 'thought_x'. Use one of: text, code,"),
        ("text", None, "text must be str or dict, not NoneType"),
        ("image", {"url": "u"}, "The type image needs the keys filename, url; missing: filename"),
        ("function_call", {"name": "x", "arguments": {}}, "missing: thought"),
        ("urls", {"url": 1}, "Content of the type urls is wrong: text: url: Input should be"),
        ("progress", {"progress": float("nan")}, "Input should be a finite number"),
        ("json", {"data": 5}, "text: data: Input should be a valid string"),
        ("json", {"data": [float("nan")]}, "The data of a json is not JSON: Out of range"),
        ("chart", {"type": "bar", "data": {"a": {1}}}, "The data of a chart is not JSON: Object"),
    ],
)
def test_construction_2_and_3_what_no_type_takes_is_refused(type: str, given: Any, sentence: str):
    for kind in (ValueError, AssertionError, ContractBreach):
        with pytest.raises(kind, match=sentence):
            create_output(type, given)


def test_construction_4_missing_keys_have_defaults_and_others_are_kept():
    def payload(type: str, given: Any) -> dict[str, Any]:
        return create_output(type, given).content[0].text.model_dump()

    image = {"filename": "f", "url": "u"}
    assert payload("image", image) == {**image, "base64": "", "mime_type": "jpeg"}
    assert payload("text", {"info": "x", "k": 1}) == {"info": "x", "k": 1}
    empty = payload("references", {"type": None, "doc_id": None})
    assert {empty[key] for key in ("type", "source", "doc_id", "title", "content")} == {""}


def test_outputs_of_one_event_have_one_role():
    assert create_outputs([]) == ComponentOutput()
    with pytest.raises(ContractBreach, match="All elements of an output have one role"):
        create_outputs([text("a"), text("b", role="assistant")])
    with pytest.raises(ContractBreach, match="The role of an output is 'tool' or 'assistant'"):
        text("a", role="user")


@pytest.mark.parametrize("kind", list(ContentType))
def test_every_type_keeps_its_payload_on_the_wire_and_back(kind: ContentType):
    payload = PAYLOADS[kind]
    given: dict[str, Any] = dict.fromkeys(payload.required, "x") | {"more": [1]}
    if kind is ContentType.FUNCTION_CALL:
        given["arguments"] = {"a": 1}
    output = create_output(kind, given, name="n", visible_scope="llm")
    (content,) = output.content
    assert type(content.text) is payload
    assert given.items() <= content.text.model_dump().items()
    assert ComponentOutput.model_validate_json(output.model_dump_json()) == output
    assert merge([output]) == output
    if payload.text_key:
        assert create_output(kind, "x").content[0].text.model_dump()[payload.text_key] == "x"


def test_construction_6_a_message_says_what_it_holds():
    assert (Message("x").mtype, Message([1]).mtype, Message().mtype) == ("str", "list", "dict")
    assert Message(content=None).content == Message(None).content == Message().content == {}
    assert Message("x").id != Message("y").id
    known = {"content": "x", "name": "msg", "id": "1", "mtype": "str", "more": 1}
    assert Message("x", id="1", more=1, mtype="int").model_dump() == known


def test_callers_set_their_own_system_inputs_and_none_of_the_servers():
    may_set = {"_sys_origin_query", "_sys_file_urls", "_sys_end_user_id", "model_configs"}
    others = {"_sys_traceid", "_sys_new", "traceid", "query"}
    assert from_caller(dict.fromkeys(may_set | others)).keys() == may_set
