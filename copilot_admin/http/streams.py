"""Streaming responses of server-sent events."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing

from django.http import StreamingHttpResponse

# no-transform and X-Accel-Buffering keep proxies from compressing or buffering the stream.
NO_BUFFERING = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
CONTENT_TYPE = "text/event-stream; charset=utf-8"
STREAM_HEADERS = [
    (name.lower().encode(), value.encode())
    for name, value in (*NO_BUFFERING.items(), ("Content-Type", CONTENT_TYPE))
]


class EventStreamResponse(StreamingHttpResponse):
    """Server-sent events whose generator is closed in the task that reads it.

    The stock response iterates its generator with a bare `async for`: when a cancellation lands
    while the server sends, the generator stays open until it is garbage collected. `on_close` is
    called once, from any thread, even if no frame was read.
    """

    def __init__(
        self, frames: AsyncGenerator[bytes, None], *, on_close: Callable[[], None]
    ) -> None:
        self.frames = frames
        self.on_close: Callable[[], None] | None = on_close
        super().__init__(frames, content_type=CONTENT_TYPE, headers=NO_BUFFERING)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with aclosing(self.frames) as frames:
            async for frame in frames:
                yield frame

    def close(self) -> None:
        super().close()
        on_close, self.on_close = self.on_close, None  # Django keeps the response for a while
        if on_close is not None:
            on_close()
