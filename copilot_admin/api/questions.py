"""Query endpoint outside Django, in the task of the connection.

Django's request object, two more tasks and a visit to a thread cost as much as a short answer.
Requests that Django would reject are passed on to it, and so are errors before the first byte.
"""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing, contextmanager

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from copilot_admin.api.query import FAILURE_KEY, UnreadQuery, opened
from copilot_admin.copilots.credentials import credentials_in, headers_read
from copilot_admin.errors import RequestError, strip_traceback
from copilot_admin.http.proxy_identity import get_end_user
from copilot_admin.http.scope import (
    IDS_KEY,
    App,
    Receive,
    Scope,
    Send,
    get_client_network,
    get_joined_header,
    is_query,
    replay,
)
from copilot_admin.http.streams import STREAM_HEADERS
from copilot_admin.runs.run import ActiveRun
from copilot_admin.runs.tasks import CancelReason

_PARTS = 5  # of "/v1/copilots/<slug>/query", split at its slashes


class Questions:
    """ASGI middleware; the body limit outside it delivers a body as one message."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        slug = _slug_in(scope)
        if slug is None or not _is_for_this_host(scope):
            await self.app(scope, receive, send)
            return
        message = await receive()
        failure: Exception | None = None
        with _until_client_leaves(receive):
            failure = await _answered(_build_query(scope, slug, body=message.pop("body")), send)
        if failure is not None:
            scope = {**scope, FAILURE_KEY: failure}
            await self.app(scope, replay({**message, "body": b""}, receive), send)


async def _answered(asked: UnreadQuery, send: Send) -> Exception | None:
    try:
        run = await opened(asked)
    except RequestError as error:
        return strip_traceback(error)
    except Exception as error:  # noqa: BLE001  # a request's boundary (ADR 1): Django renders it
        return error
    await _stream(run, send)
    return None


async def _stream(run: ActiveRun, send: Send) -> None:
    try:
        await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})
        async with aclosing(run.buffer.chunks()) as pieces:
            more = True
            async for piece in pieces:
                # The end of the body is sent with the last frames: alone it costs as much as they.
                more = not run.buffer.is_finished
                await send({"type": "http.response.body", "body": piece, "more_body": more})
        if more:
            await send({"type": "http.response.body"})
    finally:
        run.cancel(CancelReason.CLIENT_LEFT)  # also before the first frame


@contextmanager
def _until_client_leaves(receive: Receive) -> Iterator[None]:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101  # a coroutine that runs has one
    is_gone = False

    def leave(_: object) -> None:
        nonlocal is_gone
        is_gone = True
        task.cancel()

    listening = asyncio.ensure_future(receive())
    listening.add_done_callback(leave)
    try:
        yield
    except asyncio.CancelledError:
        if not is_gone or task.uncancel():
            raise
    finally:
        listening.remove_done_callback(leave)
        listening.cancel()


def _slug_in(scope: Scope) -> str | None:
    if scope["type"] != "http" or scope["method"] != "POST" or not is_query(scope["path"]):
        return None
    if scope.get("root_path") or scope.get("query_string") or IDS_KEY not in scope:
        return None
    parts: list[str] = scope["path"].split("/")
    return parts[3] or None if len(parts) == _PARTS else None


def _is_for_this_host(scope: Scope) -> bool:
    domain, _ = split_domain_port(get_joined_header(scope, "host") or "")
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def _build_query(scope: Scope, slug: str, *, body: bytes) -> UnreadQuery:
    given = ((key, get_joined_header(scope, key)) for key in headers_read())
    return UnreadQuery(
        slug=slug,
        credentials=credentials_in(
            {key: value for key, value in given if value is not None}, get_end_user(scope)
        ),
        body=body,
        ids=scope[IDS_KEY],
        address=get_client_network((scope.get("client") or ("",))[0]),
    )
