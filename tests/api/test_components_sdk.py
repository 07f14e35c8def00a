"""The vendor's public client calls our components, unmodified."""

import re
from typing import Any

import pytest

from protocol.components import ContentType, create_output
from tests.api.appbuilder_sdk import need_sdk, run_sdk
from tests.component_calls.component_http import UUID, Stage, served
from tests.factories import make_key

__all__ = ["served"]
pytestmark = [pytest.mark.nightly, pytest.mark.django_db(transaction=True)]

PAYLOADS: dict[ContentType, Any] = {
    ContentType.TEXT: {"info": "hi"},
    ContentType.CODE: {"code": "1 + 1"},
    ContentType.FILES: {"filename": "a.csv", "url": "https://x.test/a.csv", "file_id": "f"},
    ContentType.URLS: {"url": "https://x.test"},
    ContentType.ORAL_TEXT: {"info": "hi"},
    ContentType.REFERENCES: {"type": "web", "source": "s", "doc_id": "d", "title": "t"},
    ContentType.IMAGE: {"filename": "a.png", "url": "https://x.test/a.png"},
    ContentType.CHART: {"type": "bar", "data": "[]"},
    ContentType.AUDIO: {"filename": "a.mp3", "url": "https://x.test/a.mp3"},
    ContentType.JSON: {"data": "{}"},
    ContentType.THOUGHT: {"info": "hm"},
    ContentType.PLAN: {"goal": "g", "tasks": [{"id": "1", "name": "n"}]},
    ContentType.FUNCTION_CALL: {"thought": "", "name": "f", "arguments": {"a": 1}},
    ContentType.BROWSER: {"query": "q"},
    ContentType.PROGRESS: {"progress": 0.5, "message": "half"},
}


@pytest.fixture(scope="module", autouse=True)
def _sdk() -> None:
    need_sdk()


@pytest.fixture
def server(service_url: str) -> str:
    return service_url


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tmp_path_factory.mktemp("sdk")


def test_it_reads_whole_answers_and_streams_of_either_version(server, served, home):
    about = {"sys_conversation_id": "c-1", "sys_end_user_id": "ada"}
    calls = [
        {"component_id": "echo", "sys_origin_query": "hi", "version": one, "stream": two, **about}
        for one in ("latest", "v1")
        for two in (False, True)
    ]
    told = run_sdk(calls, url=server, key=make_key()[1], home=home)
    assert [
        [(one["status"], [part["text"]["info"] for part in one["content"]]) for one in answers]
        for answers in told
    ] == [
        [("done", ["hi"])],
        [("running", ["h"]), ("running", ["i"]), ("done", [])],
        [("done", ["hi"])],
        [("running", ["hi"]), ("done", [])],
    ]
    ids = {(one["conversation_id"], one["end_user_id"]) for answers in told for one in answers}
    assert ids == {("c-1", "ada")}


@pytest.mark.parametrize("stream", [False, True])
def test_its_models_read_every_type_of_content(server, served, home, stream):
    assert PAYLOADS.keys() == set(ContentType)
    Stage.script = tuple(create_output(kind, text) for kind, text in PAYLOADS.items())
    call = {"component_id": "stage", "sys_origin_query": "", "stream": stream}
    (told,) = run_sdk([call], url=server, key=make_key()[1], home=home)
    elements = [element for one in told for element in one["content"]]
    types = [kind.value for kind in PAYLOADS]
    types[types.index("thought")] = "reasoning_content"
    assert [element["type"] for element in elements] == types
    for element, payload in zip(elements, PAYLOADS.values(), strict=True):
        assert {key: element["text"][key] for key in payload if key != "tasks"} == {
            key: value for key, value in payload.items() if key != "tasks"
        }


def test_its_exceptions_are_those_of_our_statuses(server, served, home):
    echo = {"component_id": "echo", "sys_origin_query": "hi"}
    Stage.script = (RuntimeError("x"),)
    calls = [
        {**echo, "component_id": "nothing"},
        {**echo, "version": "v9"},
        {**echo, "action": "fly"},
        {**echo, "query": 1},
        {**echo, "component_id": "stage"},
    ]
    told = run_sdk(calls, url=server, key=make_key()[1], home=home)
    assert [one["error"] for one in told] == [
        "NotFoundException",
        "NotFoundException",
        "BadRequestException",
        "BadRequestException",
        "InternalServerErrorException",
    ]
    for one in told:
        assert re.match(f"request_id={UUID} , http status code is ", one["text"])
        assert '"message": ' in one["text"]
    (stranger,) = run_sdk([echo], url=server, key="cak_wrong", home=home)
    assert stranger["error"] == "UnAuthorizedException"
