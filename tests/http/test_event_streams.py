"""Server-sent events: their headers, and what happens at their end."""

import asyncio
from collections.abc import AsyncGenerator
import weakref

from django.core.signals import request_finished
import pytest

from copilot_admin.http.event_streams import HEADERS, EventStreamResponse


async def frames(log: list[str]) -> AsyncGenerator[bytes, None]:
    try:
        yield b"one"
        yield b"two"
    finally:
        log.append("source closed")


def test_a_stream_says_that_nobody_may_collect_or_keep_it():
    said = {
        "Content-Type": "text/event-stream; charset=utf-8",
        "Cache-Control": "no-store, no-transform",
        "X-Accel-Buffering": "no",
    }
    assert dict(EventStreamResponse(frames([]), on_close=lambda: None).headers) == said
    raw = {name.decode(): value.decode() for name, value in HEADERS}
    assert raw == {name.lower(): value for name, value in said.items()}


def test_the_source_of_a_stream_is_closed_where_its_reader_stops():
    log: list[str] = []

    async def read_one() -> None:
        reading = aiter(EventStreamResponse(frames(log), on_close=lambda: None))
        log.append((await anext(reading)).decode())
        await reading.aclose()  # type: ignore[attr-defined]  # it is a generator
        log.append("reader left")

    asyncio.run(read_one())
    assert log == ["one", "source closed", "reader left"]


@pytest.mark.django_db  # Django looks after its connections then
def test_the_end_of_the_response_is_told_once_the_request_is_finished():
    log: list[str] = []

    def finished(**_: object) -> None:
        log.append("request finished")

    request_finished.connect(finished)
    try:
        EventStreamResponse(frames(log), on_close=lambda: log.append("source told")).close()
    finally:
        request_finished.disconnect(finished)
    assert log == ["request finished", "source told"]


@pytest.mark.django_db  # Django looks after its connections then
def test_a_response_that_is_kept_keeps_its_source_no_longer_than_to_its_end():
    log: list[str] = []
    response = EventStreamResponse(frames(log), on_close=lambda: log.append("source told"))
    told = weakref.ref(response.on_close)
    response.close()
    response.close()
    assert (log, told()) == (["source told"], None)
