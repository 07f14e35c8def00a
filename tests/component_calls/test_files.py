"""The files that come with a call of a component."""

import asyncio
from collections.abc import AsyncGenerator
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


def serving(data: bytes) -> Any:
    @asynccontextmanager
    async def fetch(url: str) -> AsyncGenerator[bytes, None]:
        yield data

    return fetch


def failing(url: str) -> Any:
    raise FetchFailed("The server answered 500.")


@asynccontextmanager
async def hanging(url: str) -> AsyncGenerator[bytes, None]:
    await asyncio.Future()
    yield b""


def read(parameters: dict[str, Any], fetch: Any) -> tuple[SourceDocument, ...]:
    return asyncio.run(read_files(parameters, fetch=fetch))


def document(name: str, text: str) -> SourceDocument:
    return SourceDocument(name, DocumentOrigin.FILE, (("", text),))


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"_sys_file_urls": {"a.txt": "https://x.test/1"}}, "a.txt"),
        ({"_sys_file_urls": {"prices": "https://x.test/f/Prices.TXT?x=1"}}, "prices"),
        ({"_sys_uploaded_files": [{"filename": "a.txt", "url": "https://x.test/1"}]}, "a.txt"),
        ({"_sys_uploaded_files": [{"url": "https://x.test/f/a.txt"}]}, "a.txt"),
        ({"uploaded_files": {"filename": "a.txt", "url": "https://x.test/1"}}, "a.txt"),
        *(({key: value}, None) for key, value in (("_sys_file_urls", {}), ("uploaded_files", ""))),
    ],
)
def test_files_are_named_in_any_of_three_ways(parameters, name):
    assert read(parameters, serving(b"hello")) == ((document(name, "hello"),) if name else ())


MANY = {f"{n}.csv": "https://x.test/1" for n in range(21)}
ONE = {"a.csv": "https://x.test/1"}


@pytest.mark.parametrize(
    ("parameters", "fetch", "code"),
    [
        ({"_sys_file_urls": ["https://x.test/a.csv"]}, serving(CSV), "bad-parameters"),
        ({"_sys_file_urls": {"a.csv": 1}}, serving(CSV), "bad-parameters"),
        ({"uploaded_files": ["https://x.test/a.csv"]}, serving(CSV), "bad-parameters"),
        ({"_sys_uploaded_files": [{"filename": "a.csv"}]}, serving(CSV), "bad-parameters"),
        ({"_sys_file_urls": {"a.exe": "https://x.test/1"}}, serving(CSV), "unreadable-file"),
        ({"_sys_file_urls": {"a": "http://["}}, serving(CSV), "unreadable-file"),
        ({"_sys_file_urls": ONE}, serving(b"PK\x03\x04"), "unreadable-file"),
        ({"_sys_file_urls": ONE}, failing, "unreadable-file"),
        ({"_sys_file_urls": ONE}, hanging, "unreadable-file"),
        ({"_sys_file_urls": MANY}, failing, "too-many-files"),
    ],
)
def test_files_that_cannot_be_read_are_refused(parameters, fetch, code, monkeypatch):
    monkeypatch.setattr(files, "MAX_SECONDS", 0.01 if fetch is hanging else 90)
    with pytest.raises(InvalidCall) as caught:
        read(parameters, fetch)
    assert caught.value.code == code


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("served")
class TestOverHttp:
    def test_the_component_finds_the_files_as_documents(self, monkeypatch):
        fetch = serving(b"hello")
        monkeypatch.setattr(component_calls.Egress, "fetch", lambda self, url: fetch(url))
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
