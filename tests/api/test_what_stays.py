"""A question is gone when it is over, however it ends: full passes of the collector may be held off."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, fields
import gc
import json
from types import SimpleNamespace
from typing import Any
import weakref

import pytest

from copilot_admin.agent.llm import model_stream
from copilot_admin.api import query as query_module
from copilot_admin.api.query import READ_INLINE_BYTES
from copilot_admin.api.questions import Questions
from copilot_admin.asgi import django_application
from copilot_admin.errors import ProviderRefused
from copilot_admin.http.ids import RequestIds
from copilot_admin.runs.full_collections import FullCollections
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.storage.writer import READER, WRITER, Deadline
from copilot_admin.transcripts.store import JOURNAL
from copilot_admin.transcripts.store.values import Accepted, Opening
from protocol.query import Query
from protocol.requests import read as from_body
from tests.agent.providers.upstream import Handler, Reply, Request, serving
from tests.agent.scripted import broken, stalled, text
from tests.api.test_questions import Client, script
from tests.factories import make_published
from tests.polling import HANGS_SECONDS, comes_true

pytestmark = pytest.mark.django_db(transaction=True)
LONG = "word " * (READ_INLINE_BYTES // 5 + 1)
BODY = json.dumps({"messages": [{"role": "human", "content": LONG}]}).encode()


@dataclass(frozen=True, kw_only=True)
class Watched(Query):
    """A question of which one can find out whether it is gone."""


@pytest.fixture
def read_queries(monkeypatch: pytest.MonkeyPatch) -> list["weakref.ref[Query]"]:
    """What is read of questions, as far as anybody still has it."""
    found: list[weakref.ref[Query]] = []

    def read(*given: Any, **options: Any) -> Query:
        query = from_body(*given, **options)
        watched = Watched(**{one.name: getattr(query, one.name) for one in fields(query)})
        found.append(weakref.ref(watched))
        return watched

    monkeypatch.setattr(query_module, "read", read)
    never = SimpleNamespace(join=lambda run, loop: None)  # a run is in the list to the next tick
    monkeypatch.setattr("copilot_admin.runs.run._TICKING", never)
    monkeypatch.setattr(query_module, "FULL_COLLECTIONS", FullCollections())
    return found


async def answered(monkeypatch: pytest.MonkeyPatch) -> int:
    script(monkeypatch, text("Hello."))
    return (await asked()).answer[0]


async def not_answered(monkeypatch: pytest.MonkeyPatch) -> int:
    script(monkeypatch, broken(ProviderRefused("No.")))
    return (await asked()).answer[0]


async def broken_off(monkeypatch: pytest.MonkeyPatch) -> int:
    async def handler(request: Request, reply: Reply) -> None:
        await reply.start()
        await reply.events({"choices": [{"delta": {"content": "It"}}]})
        await reply.raw(b"zz\r\n")

    return await asked_of(handler, monkeypatch)


async def refused_by_the_model(monkeypatch: pytest.MonkeyPatch) -> int:
    async def handler(request: Request, reply: Reply) -> None:
        await reply.start(400, type="application/json")
        await reply.send(b'{"error": {"message": "too long"}}')
        await reply.end()

    return await asked_of(handler, monkeypatch)


async def hung_up_on(monkeypatch: pytest.MonkeyPatch) -> int:
    async def handler(request: Request, reply: Reply) -> None:
        reply.cut()

    return await asked_of(handler, monkeypatch)


async def answered_by_a_server(monkeypatch: pytest.MonkeyPatch) -> int:
    async def handler(request: Request, reply: Reply) -> None:
        await reply.start()
        await reply.events({"choices": [{"delta": {"content": "It"}, "finish_reason": "stop"}]})
        await reply.end()

    return await asked_of(handler, monkeypatch)


def once_more_at_once(_error: object, *, retries: int, **_: object) -> float | None:
    return None if retries else 0.0


async def asked_of(handler: Handler, monkeypatch: pytest.MonkeyPatch) -> int:
    """Asks a model's server, as any provider does."""
    async with serving(handler) as server:
        provider = server.provider()
        monkeypatch.setattr(model_stream, "pause_before_retry", once_more_at_once)
        monkeypatch.setattr("copilot_admin.copilots.live.make_provider", lambda spec: provider)
        status = (await asked()).answer[0]
        await provider.aclose_shared()
    return status


async def left_before_an_answer(monkeypatch: pytest.MonkeyPatch) -> int:
    script(monkeypatch, stalled())
    return await left(monkeypatch, when=lambda client: client.messages)


async def left_in_mid_answer(monkeypatch: pytest.MonkeyPatch) -> int:
    script(monkeypatch, text("Hello."), stalled())
    return await left(monkeypatch, when=lambda client: client.arrived.is_set())


async def not_kept(monkeypatch: pytest.MonkeyPatch) -> int:
    async def accept(opening: Opening, **_: Any) -> Accepted:
        raise DatabaseUnavailable

    monkeypatch.setattr(JOURNAL, "accept", accept)
    script(monkeypatch, stalled())
    return (await asked()).answer[0]


async def kept_too_late(monkeypatch: pytest.MonkeyPatch) -> int:
    accepting = JOURNAL.accept

    async def accept(opening: Opening, *, prepared: Callable[[], object]) -> Accepted:
        asked_to_keep.set()
        prepared()
        await late.wait()
        return await accepting(opening)

    class Hurried(Deadline):
        """Waits for what it reads, however long a busy machine takes, and not for the journal."""

        def limit(self) -> Any:
            self.remaining = 0.01 if asked_to_keep.is_set() else HANGS_SECONDS
            return super().limit()

    asked_to_keep, late = asyncio.Event(), asyncio.Event()
    monkeypatch.setattr(query_module, "Deadline", Hurried)
    monkeypatch.setattr(JOURNAL, "accept", accept)
    script(monkeypatch, stalled())
    status = (await asked()).answer[0]
    late.set()
    return status


async def asked() -> Client:
    return await Client(APP, body=BODY).ask()


async def left(monkeypatch: pytest.MonkeyPatch, *, when: Callable[[Client], object]) -> int:
    client = Client(APP, body=BODY)
    asking = asyncio.create_task(client.ask())
    await comes_true(lambda: when(client))
    client.has_left.set()
    async with asyncio.timeout(HANGS_SECONDS):
        await asking
    return int(client.messages[0]["status"])


async def all_have_let_go() -> None:
    """Waits for what goes on behind an answer, such as the end of its run.

    A thread that has told what it read has it itself until it runs again, which a busy machine puts
    off. It looks for its next job without the one before.
    """
    await comes_true(lambda: len(asyncio.all_tasks()) == 1)
    async with asyncio.timeout(HANGS_SECONDS):
        await asyncio.get_running_loop().shutdown_default_executor()
        for thread in (READER, WRITER):
            await asyncio.wrap_future(thread.submit(int))


APP: Any = RequestIds(Questions(django_application))  # type: ignore[arg-type]  # Django's types are wider


@pytest.mark.parametrize(
    ("way", "status"),
    [
        (answered, 200),
        (not_answered, 200),
        (broken_off, 200),
        (refused_by_the_model, 200),
        (hung_up_on, 200),
        (left_before_an_answer, 200),
        (left_in_mid_answer, 200),
        (not_kept, 503),
        (kept_too_late, 503),
    ],
)
def test_nothing_keeps_a_question_that_is_over(monkeypatch, read_queries, way, status):
    make_published(slug="news")

    async def scenario() -> tuple[int, list[Query | None]]:
        gc.collect()
        gc.disable()  # what is in a circle stays
        try:
            ended = await way(monkeypatch)
            await all_have_let_go()
            return ended, [one() for one in read_queries]
        finally:
            gc.enable()

    assert asyncio.run(scenario()) == (status, [None])


def those_with_long_texts() -> list[str]:
    """The types of all objects that hold a text as long as the question."""
    return [
        type(one).__name__
        for one in gc.get_objects()
        if any(type(part) is str and len(part) >= len(LONG) for part in gc.get_referents(one))
    ]


@pytest.mark.parametrize(
    "way", [answered_by_a_server, broken_off, refused_by_the_model, hung_up_on]
)
def test_nothing_keeps_what_a_model_was_told(monkeypatch, read_queries, way):
    make_published(slug="news")

    async def scenario() -> list[str]:
        gc.collect()
        gc.disable()
        before = those_with_long_texts()
        try:
            await way(monkeypatch)
            await all_have_let_go()
            return those_with_long_texts()[len(before) :]
        finally:
            gc.enable()

    assert asyncio.run(scenario()) == []
