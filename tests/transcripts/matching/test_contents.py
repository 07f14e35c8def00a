"""What is stored of a message, and by which hash it is found again."""

import json

import pytest

from copilot_admin.transcripts.matching.chain import PUBLIC_KEY, Chain
from copilot_admin.transcripts.matching.content import content_of, data_in
from protocol.messages import (
    AiMessage,
    CallMessage,
    DataItem,
    HumanMessage,
    ResultMessage,
    SourceData,
    SourceError,
)


def call(size: int) -> CallMessage:
    """A call whose JSON has this many bytes."""
    empty = len(json.dumps({"function": "f", "input_arguments": {"a": ""}}, separators=(",", ":")))
    return CallMessage("f", {"a": "x" * (size - empty)})


def test_a_call_of_two_kilobytes_is_text_and_a_bigger_one_a_blob():
    small, big = content_of(call(2048)), content_of(call(2049))
    assert (len(small.text), small.blob, small.sha) == (2048, None, None)
    assert (big.text, big.blob is None, big.sha is None) == ("", False, False)


def test_what_went_wrong_is_stored():
    failed = ResultMessage("f", {"a": 1}, (SourceError("not_found", "There is none."),))
    assert json.loads(content_of(failed).text) == {
        "function": "f",
        "input_arguments": {"a": 1},
        "data": [{"error_type": "not_found", "content": "There is none."}],
    }


@pytest.mark.parametrize(
    ("text", "value"), [('{"function": "f"}', {"function": "f"}), ("[1]", None), ("", None)]
)
def test_stored_data_is_an_object(text, value):
    assert data_in(text) == value


def test_what_is_stored_today_is_found_again_by_the_next_version():
    chain = Chain(key=PUBLIC_KEY, copilot_id=7, principal="key:1")
    messages = [
        HumanMessage("What moved?"),
        AiMessage("It rose\n\nby five  percent."),
        CallMessage("get_widget_data", {"data_sources": [{"widget_uuid": "w-1"}]}),
        ResultMessage("get_widget_data", {}, (SourceData((DataItem(content="row " * 1000),)),)),
    ]
    links = chain.links(messages)
    assert [link.chain_hash for link in links] == [
        "50ce0fadd0afc9ebdc9cd6ba0dd5be62",
        "cf4d52bf9001586de8ee3b878bf746e0",
        "29a9986debdf8c2b1de02be167327efa",
        "d787a81e5ed681430bb789630dd0cb81",
    ]
    asked, told = links[0].chain_hash, "5b87d7918a3b61fb47935d877ccd1e72"
    assert [link.client_hash for link in links] == [asked, asked, asked, told]
