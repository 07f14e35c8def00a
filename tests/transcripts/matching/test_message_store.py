"""What is stored of a message, without secrets and images, and by which hash it is found again."""

import json

import pytest

from copilot_admin.models import Logging, Outcome
from copilot_admin.transcripts.matching.messages import (
    PUBLIC_KEY,
    HashChain,
    replace_images,
    serialize_message,
)
from protocol.events import StatusUpdate
from protocol.models import (
    AiMessage,
    CallMessage,
    CommandResult,
    DataItem,
    FileReference,
    HumanMessage,
    ResultMessage,
    SourceData,
    SourceError,
)
from protocol.parsing import parse_query
from tests.transcripts.store.journaling import (
    Client,
    ai,
    call_echo,
    call_event,
    ending,
    human,
    result,
)
from tests.transcripts.store.test_redaction import everything_stored

IMAGE = {"name": "Chart", "content": "iVBORw0KGgo=" * 100, "data_format": {"data_type": "PNG"}}
KEPT = {**IMAGE, "content": "[an image of 1,200 characters in base64; it is not kept]"}


def call(size: int) -> CallMessage:
    """A call whose JSON has this many bytes."""
    empty = len(json.dumps({"function": "f", "input_arguments": {"a": ""}}, separators=(",", ":")))
    return CallMessage("f", {"a": "x" * (size - empty)})


SIGNED = FileReference(url="https://f.example/a.pdf?sig=canary", data_format={"data_type": "pdf"})
STORED = {"url": "https://f.example/a.pdf", "data_format": {"data_type": "pdf"}, "citable": True}


@pytest.mark.parametrize(
    ("data", "stored"),
    [
        (
            SourceError("not_found", "There is none."),
            {"error_type": "not_found", "content": "There is none."},
        ),
        (
            SourceData((SIGNED,), ({"id": "c-1"},)),
            {"items": [STORED], "extra_citations": [{"id": "c-1"}]},
        ),
        (
            CommandResult("success", "ok", about={"widget_uuid": "w-1"}),
            {"status": "success", "message": "ok", "data": {}, "widget_uuid": "w-1"},
        ),
    ],
)
def test_data_of_a_result_is_stored_without_signatures(data, stored):
    content = serialize_message(ResultMessage("f", {"a": 1}, (data,)))
    assert json.loads(content.text) == {
        "function": "f",
        "input_arguments": {"a": 1},
        "data": [stored],
    }


def test_what_is_stored_today_is_found_again_by_the_next_version():
    chain = HashChain(key=PUBLIC_KEY, copilot_id=7, principal="key:1")
    messages = [
        HumanMessage("What moved?"),
        AiMessage("It rose\n\nby five  percent."),
        CallMessage("get_widget_data", {"data_sources": [{"widget_uuid": "w-1"}]}),
        ResultMessage("get_widget_data", {}, (SourceData((DataItem(content="row " * 1000),)),)),
    ]
    links = chain.hash_messages(messages)
    assert [link.chain_hash for link in links] == [
        "50ce0fadd0afc9ebdc9cd6ba0dd5be62",
        "cf4d52bf9001586de8ee3b878bf746e0",
        "29a9986debdf8c2b1de02be167327efa",
        "d787a81e5ed681430bb789630dd0cb81",
    ]
    asked, told = links[0].chain_hash, "5b87d7918a3b61fb47935d877ccd1e72"
    assert [link.client_hash for link in links] == [asked, asked, asked, told]


def test_an_image_becomes_words_wherever_a_request_has_one():
    assert replace_images({"inner": [{"inner": IMAGE}]}) == {"inner": [{"inner": KEPT}]}


@pytest.mark.django_db
@pytest.mark.database
def test_secrets_do_not_reach_the_tables():
    client = Client(trace_id="chat")
    signed = "https://files.example/a.pdf?X-Amz-Signature=canary&page=2"
    body = {
        "messages": [
            {"role": "human", "content": f"Read {signed}"},
            {"role": "ai", "content": json.dumps({"function": "f", "input_arguments": {"api_key": "canary"}})},
            {"role": "tool", "function": "f", "data": [{"items": [{"content": f"see {signed}"}]}]},
        ],
        "api_keys": {"openai_api_key": "canary"},
        "tools": [{"name": "t", "url": signed, "auth_token": "canary"}],
    }  # fmt: skip
    query = parse_query(json.dumps(body).encode())
    client.ask(*query.messages, env=query.env).answer(f"It is at {signed}")
    assert "canary" not in everything_stored()
    assert "files.example" in everything_stored()


@pytest.mark.django_db
@pytest.mark.parametrize("logging", [Logging.METADATA, Logging.NOTHING])
def test_nothing_of_the_content_reaches_the_tables_where_none_is_kept(logging):
    client = Client(trace_id="chat", logging=logging)
    env = {"timezone": "canary", "widgets": {"primary": [{"name": "canary" * 900}]}}
    failed = ending(Outcome.FAILED, error="canary", error_code="ProviderBroke", notes=("canary",))
    client.ask("canary", env=env, notes=("canary",)).answer(
        StatusUpdate(message="canary"), "canary ", call_event("canary")
    )
    echo = [human("canary"), ai("canary "), call_echo("canary"), result("canary" * 900, "canary")]
    second = client.ask(*echo, env=env).answer("the canary sings", ended=failed)
    assert "canary" not in everything_stored()
    run = second.run
    assert (run.outcome, run.error, run.error_code) == (Outcome.FAILED, "", "ProviderBroke")
    assert run.input_tokens == 10
