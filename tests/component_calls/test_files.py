"""The files that come with a call of a component."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from copilot_admin.agent.components.inputs import DocumentOrigin, SourceDocument
from copilot_admin.agent.fetching.egress import FetchFailed
from copilot_admin.component_calls import call as component_calls
from copilot_admin.component_calls import files
from copilot_admin.component_calls.files import read_files
from copilot_admin.errors import InvalidCall
from copilot_admin.models import CallStatus
from tests.component_calls.component_http import Stage, ask, rows, served
from tests.factories import make_key

__all__ = ["served"]

CSV = b"symbol,price\nTSLA,250\n"


def read(parameters: dict[str, Any], *, data: bytes = CSV) -> tuple[SourceDocument, ...]:
    @asynccontextmanager
    async def fetch(url: str) -> AsyncGenerator[bytes, None]:
        yield data

    return asyncio.run(read_files(parameters, fetch=fetch))


def document(name: str, text: str) -> SourceDocument:
    return SourceDocument(name, DocumentOrigin.FILE, (("", text),))


def refusal(run: Callable[[], Any]) -> str:
    with pytest.raises(InvalidCall) as caught:
        run()
    return caught.value.code


@pytest.mark.parametrize(
    "parameters",
    [
        {"_sys_file_urls": {"a.txt": "https://x.test/1"}},
        {"_sys_file_urls": {"a.txt": "https://x.test/a.txt?sig=1"}},
        {"_sys_uploaded_files": [{"filename": "a.txt", "url": "https://x.test/1"}]},
        {"_sys_uploaded_files": [{"url": "https://x.test/f/a.txt"}]},
        {"uploaded_files": [{"filename": "a.txt", "url": "https://x.test/1", "file_id": "1"}]},
        {"uploaded_files": {"filename": "a.txt", "url": "https://x.test/1"}},
    ],
)
def test_files_are_named_in_any_of_three_ways(parameters):
    assert read(parameters, data=b"hello") == (document("a.txt", "hello"),)


def test_the_type_of_a_file_may_be_in_its_url_and_files_may_be_missing():
    (found,) = read({"_sys_file_urls": {"prices": "https://x.test/f/Prices.CSV?x=1"}})
    assert (found.name, "TSLA" in found.parts[0][1]) == ("prices", True)
    for parameters in ({}, {"_sys_file_urls": {}}, {"uploaded_files": []}, {"uploaded_files": ""}):
        assert read(parameters) == ()


@pytest.mark.parametrize(
    "parameters",
    [
        {"_sys_file_urls": ["https://x.test/a.csv"]},
        {"_sys_file_urls": {"a.csv": 1}},
        {"uploaded_files": ["https://x.test/a.csv"]},
        {"_sys_uploaded_files": [{"filename": "a.csv"}]},
    ],
)
def test_files_that_are_named_otherwise_are_refused(parameters):
    assert refusal(lambda: read(parameters)) == "bad-parameters"


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("a.exe", "https://x.test/1"),
        ("a", "https://x.test"),
        ("a", "http://["),
        ("a.pdf", "https://x.test/1"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(name, url):
    sent = {"_sys_file_urls": {name: url}}
    assert refusal(lambda: read(sent, data=b"PK\x03\x04")) == "unreadable-file"


def test_a_file_that_cannot_be_fetched_is_refused():
    def fetch(url: str) -> Any:
        raise FetchFailed("The server answered 500.")

    parameters = {"_sys_file_urls": {"a.csv": "https://x.test/1"}}
    code = refusal(lambda: asyncio.run(read_files(parameters, fetch=fetch)))
    assert code == "unreadable-file"


def test_too_many_files_are_refused_before_one_is_fetched():
    many = {f"{n}.csv": "https://x.test/1" for n in range(21)}
    assert refusal(lambda: read({"_sys_file_urls": many})) == "too-many-files"
    assert len(read({"_sys_file_urls": dict(list(many.items())[:20])})) == 20


def test_files_that_take_too_long_are_given_up(monkeypatch):
    @asynccontextmanager
    async def fetch(url: str) -> AsyncGenerator[bytes, None]:
        await asyncio.Future()
        yield b""

    monkeypatch.setattr(files, "MAX_SECONDS", 0.01)
    parameters = {"_sys_file_urls": {"a.csv": "https://x.test/1"}}
    code = refusal(lambda: asyncio.run(read_files(parameters, fetch=fetch)))
    assert code == "unreadable-file"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("served")
class TestOverHttp:
    def test_the_component_finds_the_files_as_documents(self, monkeypatch):
        @asynccontextmanager
        async def fetch(self: Any, url: str) -> AsyncGenerator[bytes, None]:
            yield b"hello"

        monkeypatch.setattr(component_calls.Egress, "fetch", fetch)
        sent = {"_sys_file_urls": {"a.txt": "https://x.test/1"}}
        assert ask("/stage", {"parameters": sent}, key=make_key()[1]).status == 200
        assert Stage.seen["_sys_documents"] == (document("a.txt", "hello"),)

    def test_nothing_is_fetched_from_a_private_network(self):
        sent = {"_sys_file_urls": {"a.txt": "http://127.0.0.1:9/a.txt"}}
        for stream in (False, True):
            body = {"parameters": sent, "stream": stream}
            reply = ask("/stage", body, key=make_key()[1])
            assert (reply.status, reply.json["code"]) == (400, "unreadable-file")
            assert "private network" in reply.json["message"]
        assert [call.status for call in rows()] == [CallStatus.REFUSED] * 2
