"""Server-sent events: their headers, and how they end."""

import asyncio
from collections.abc import AsyncGenerator

from django.core.signals import request_finished
import pytest

from copilot_admin.http.streams import STREAM_HEADERS, EventStreamResponse


async def frames(log: list[str]) -> AsyncGenerator[bytes, None]:
    try:
        yield b"one"
        yield b"two"
    finally:
        log.append("source closed")


def test_headers_keep_proxies_from_buffering():
    headers = {
        "Content-Type": "text/event-stream; charset=utf-8",
        "Cache-Control": "no-store, no-transform",
        "X-Accel-Buffering": "no",
    }
    assert dict(EventStreamResponse(frames([]), on_close=lambda: None).headers) == headers
    raw = {name.decode(): value.decode() for name, value in STREAM_HEADERS}
    assert raw == {name.lower(): value for name, value in headers.items()}


def test_the_generator_is_closed_where_its_reader_stops():
    log: list[str] = []

    async def read_one() -> None:
        reading = aiter(EventStreamResponse(frames(log), on_close=lambda: None))
        log.append((await anext(reading)).decode())
        await reading.aclose()  # type: ignore[attr-defined]  # it is a generator
        log.append("reader left")

    asyncio.run(read_one())
    assert log == ["one", "source closed", "reader left"]


@pytest.mark.django_db  # Django looks after its connections then
def test_the_source_hears_of_the_end_once():
    log: list[str] = []

    def finish(**_: object) -> None:
        log.append("request finished")

    request_finished.connect(finish)
    try:
        response = EventStreamResponse(frames(log), on_close=lambda: log.append("source told"))
        response.close()
        response.close()
    finally:
        request_finished.disconnect(finish)
    assert log == ["request finished", "source told", "request finished"]
