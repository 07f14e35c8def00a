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
        (
            content.type.value,
            content.name,
            {key: value for key, value in content.text.model_dump().items() if value},
        )
        for content in output.content
    ]


def references(title: str) -> ComponentOutput:
    return create_output("references", {"title": title})


MERGED: dict[str, tuple[list[ComponentOutput], list[tuple[str, str, dict[str, Any]]]]] = {
    "1 pieces of a text become one": (
        [text("Hel"), text("lo")],
        [("text", "", {"info": "Hello"})],
    ),
    "2 references stand side by side": (
        [references("A"), references("B")],
        [("references", "", {"title": "A"}), ("references", "", {"title": "B"})],
    ),
    "3 a group stands where its first element stood": (
        [references("A"), text("x"), references("B")],
        [
            ("references", "", {"title": "A"}),
            ("references", "", {"title": "B"}),
            ("text", "", {"info": "x"}),
        ],
    ),
    "4 names keep streams apart": (
        [text("a", name="part1"), text("b", name="part2"), text("c", name="part1")],
        [("text", "part1", {"info": "ac"}), ("text", "part2", {"info": "b"})],
    ),
    "7 every link stays": (
        [
            create_outputs([create_output("urls", "u1"), create_output("urls", "u2")]),
            create_output("urls", "u3"),
        ],
        [("urls", "", {"url": url}) for url in ("u1", "u2", "u3")],
    ),
    "12 the last progress remains": (
        [
            create_output("progress", {"progress": 0.2, "message": "start"}),
            create_output("progress", {"progress": 1.0, "message": "done"}),
            text("ok"),
        ],
        [("progress", "", {"progress": 1.0, "message": "done"}), ("text", "", {"info": "ok"})],
    ),
    "13 both older names of thoughts are one type": (
        [create_output("reasoning_content", "hm"), create_output("tought", "m"), text("42")],
        [("thought", "", {"info": "hmm"}), ("text", "", {"info": "42"})],
    ),
    "14 no scope means everybody": (
        [
            text("x", visible_scope=""),
            text("y", visible_scope="all"),
            text("z", visible_scope=None),
        ],
        [("text", "", {"info": "xyz"})],
    ),
}


@pytest.mark.parametrize(("outputs", "expected"), MERGED.values(), ids=MERGED)
def test_outputs_are_merged_as_in_the_vectors(outputs: list, expected: list):
    assert seen(merge(outputs)) == expected
    assert merge([merge(outputs)]) == merge(outputs)


FILES = [
    create_output("files", {"filename": name, "url": ""}, visible_scope=scope)
    for name, scope in (("a.csv", "user"), ("b.csv", "all"))
]
FOR_MODELS: dict[str, tuple[list[ComponentOutput], list[str]]] = {
    "5 scopes keep readers apart": (
        [text("for model", visible_scope="llm"), text("", visible_scope="user"), text("both")],
        ["for model", "both"],
    ),
    "11 nothing": ([], [""]),
    "16 charts and JSON are one line each": (
        [
            create_output("chart", {"type": "line", "data": '[{"x":1,"y":2}]'}, name="c"),
            create_output("json", '{"n": 1}'),
            create_output("json", '{"n": 2}'),
        ],
        [
            r'{"type": "chart", "name": "c", "text": '
            r'{"type": "line", "data": "[{\"x\":1,\"y\":2}]"}}',
            r'{"type": "json", "text": {"data": "{\"n\": 1}"}}',
            r'{"type": "json", "text": {"data": "{\"n\": 2}"}}',
        ],
    ),
    "17 files of the user alone are not for models": (
        FILES,
        ['{"type": "files", "text": {"filename": "b.csv"}}'],
    ),
    "19 pictures without their bytes": (
        [
            text("copy verbatim", visible_scope="llm"),
            create_output("image", {"filename": "", "url": "u", "base64": "AA"}, name="link"),
            create_output("urls", "j", name="jump_link_url"),
        ],
        [
            "copy verbatim",
            '{"type": "image", "name": "link", "text": {"url": "u", "mime_type": "jpeg"}}',
            '{"type": "urls", "name": "jump_link_url", "text": {"url": "j"}}',
        ],
    ),
}


@pytest.mark.parametrize(("outputs", "lines"), FOR_MODELS.values(), ids=FOR_MODELS)
def test_model_reads_what_is_meant_for_it(outputs: list, lines: list[str]):
    assert llm_text(merge(outputs)).split("\n") == lines


def test_vector_10_the_last_role_wins_and_collecting_keeps_every_piece():
    outputs = [text("a", role="tool"), text("b", role="assistant")]
    assert merge(outputs).role is OutputRole.ASSISTANT
    assert len(collect(outputs).content) == 2
    assert merge([]).to_json() == collect([]).to_json() == {"role": "tool", "content": []}


def test_usage_may_be_a_list():
    """Source: "usage | list of dict" among the returned fields of the contract."""
    small = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6, "name": "small"}
    large = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9, "name": "large"}
    output = text("x", usage=[small, large])
    assert output.to_json()["content"][0]["usage"] == [small, large]
    merged = merge([text("a"), output, text("b", usage=None)])
    assert merged.content[0].usage == [small, large]
    assert total_usage(merged) == tuple({"name": "", **one} for one in (small, large))
    assert one_usage(merged) == {
        "prompt_tokens": 12,
        "completion_tokens": 3,
        "total_tokens": 15,
        "name": "small, large",
    }


def test_vectors_8_and_15_last_usage_counts_and_raw_data_is_updated():
    counted = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7, "name": "m"}
    for outputs in (
        [text("a", usage={}, raw_data={"i": 1, "k": "x"}), text("b", usage=counted)],
        [text("a", usage=counted, raw_data={"i": 0, "k": "x"}), text("b", raw_data={"i": 1})],
    ):
        (content,) = merge(outputs).content
        assert (content.text.model_dump(), content.usage) == ({"info": "ab"}, counted)
        assert content.raw_data == {"i": 1, "k": "x"}


@pytest.mark.parametrize(
    ("times", "begin", "end"),
    [
        ([(10, 11), (10.5, 14)], 10, 14),
        ([(10, 14), (11, 12)], 10, 14),
    ],
)
def test_vector_9_times_span_all_pieces(times: list, begin: object, end: object):
    (content,) = merge(
        text("x", metrics={"begin_timestamp": first, "end_timestamp": last})
        for first, last in times
    ).content
    assert content.metrics == {"begin_timestamp": begin, "end_timestamp": end}


def test_construction_1_an_output_stands_on_the_wire_with_all_its_keys():
    assert text("hi").to_json() == {
        "role": "tool",
        "content": [
            {
                "name": "",
                "visible_scope": "all",
                "raw_data": {},
                "usage": {},
                "metrics": {},
                "type": "text",
                "text": {"info": "hi"},
            }
        ],
    }
    assert text("hi").model_dump() == text("hi").to_json()
    assert [type(text("hi").to_json()["role"]), type(text("hi").model_dump()["role"])] == [
        str,
        OutputRole,
    ]
    assert merge([]).model_dump() == {"role": "tool", "content": []}


@pytest.mark.parametrize(
    ("type", "given", "sentence"),
    [
        ("files", "x", "The type files takes no bare text"),
        ("thought_x", "x", "Unknown type 'thought_x'. Use one of: text, code,"),
        ("text", None, "text must be str or dict, not NoneType"),
        ("image", {"url": "u"}, "The type image needs the keys filename, url; missing: filename"),
        ("json", {"a": 1}, "missing: data"),
        ("function_call", {"name": "x", "arguments": {}}, "missing: thought"),
        (
            "urls",
            {"url": 1},
            "Content of the type urls is wrong: text: url: Input should be a valid string.",
        ),
        ("progress", {"progress": float("nan")}, "Input should be a finite number"),
        ("json", {"data": 5}, "text: data: Input should be a valid string"),
        ("json", {"data": [float("nan")]}, "The data of a json is not JSON: Out of range"),
        (
            "chart",
            {"type": "bar", "data": {"a": {1}}},
            "The data of a chart is not JSON: Object of",
        ),
    ],
)
def test_construction_2_and_3_what_no_type_takes_is_refused(type: str, given: Any, sentence: str):
    for kind in (ValueError, AssertionError, ContractBreach):
        with pytest.raises(kind, match=sentence):
            create_output(type, given)


def test_construction_4_missing_keys_have_defaults_and_others_are_kept():
    def payload(type: str, given: Any) -> dict[str, Any]:
        return create_output(type, given).content[0].text.model_dump()

    assert payload("image", {"filename": "f", "url": "u"}) == {
        "filename": "f",
        "url": "u",
        "base64": "",
        "mime_type": "jpeg",
    }
    assert payload("text", {"info": "x", "k": 1}) == {"info": "x", "k": 1}
    empty = payload("references", {"type": None, "doc_id": None})
    assert {key: empty[key] for key in ("type", "source", "doc_id", "title", "content")} == {
        "type": "",
        "source": "",
        "doc_id": "",
        "title": "",
        "content": "",
    }


def test_outputs_of_one_event_have_one_role():
    assert create_outputs([]) == ComponentOutput()
    spoken = create_outputs([text("a", role="assistant"), text("b", role="assistant")])
    assert (spoken.role, len(spoken.content)) == (OutputRole.ASSISTANT, 2)
    with pytest.raises(ContractBreach, match="All elements of an output have one role"):
        create_outputs([text("a"), text("b", role="assistant")])


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
    elif payload.required:
        with pytest.raises(ContractBreach, match="missing: "):
            create_output(kind, {})


def test_construction_6_a_message_says_what_it_holds():
    assert (Message("x").mtype, Message([1]).mtype, Message().mtype) == ("str", "list", "dict")
    assert Message().content == {}
    assert Message("x").id != Message("y").id
    assert Message(content="x").content == "x"
    assert Message(content=None).content == Message(None).content == {}
    assert Message("x", mtype="int", more=1).mtype == "str"
    assert Message("x", id="1", more=1).model_dump() == {
        "content": "x",
        "name": "msg",
        "id": "1",
        "mtype": "str",
        "more": 1,
    }


def test_callers_set_their_own_system_inputs_and_none_of_the_servers():
    may_set = {
        "_sys_origin_query",
        "_sys_file_urls",
        "_sys_file_names",
        "_sys_conversation_id",
        "_sys_end_user_id",
        "_sys_chat_history",
        "_sys_user_instruction",
        "_sys_custom_variables",
        "_sys_uploaded_files",
        "model_configs",
        "uploaded_files",
    }
    others = {"_sys_traceid", "_sys_new", "traceid", "query"}
    assert from_caller(dict.fromkeys(may_set | others)).keys() == may_set
