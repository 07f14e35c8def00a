"""Caps the bytes and the time of request bodies before Django accepts one.

Django spools a body to disk without a limit before any view runs, so the limit stands here. The
body is read whole and handed on as one message. A form of the admin whose file is too large is
handed on without the file, so that the page can show what was typed.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeAlias

from django.utils.translation import gettext_noop

from copilot_admin.errors import (
    BodyTimeout,
    BodyTooLarge,
    CompressedBody,
    MalformedBody,
    RequestError,
    Unavailable,
    strip_traceback,
)
from copilot_admin.http.asgi_types import App, Message, Receive, Scope, Send, header, once_more
from copilot_admin.http.body_room import BodyRoom
from copilot_admin.http.form_bodies import (
    MOST_READ_BYTES,
    FormBody,
    WholeBody,
    form_boundary,
    is_encoded,
    is_form,
    with_length,
)
from copilot_admin.http.lingering import Incoming, refuse
from copilot_admin.http.refusals import send_refusal
from copilot_admin.http.shared_room import Share

# These rarely have a body, and their headers tell; of every other method one is awaited.
METHODS_WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS"})
PATIENCE_SECONDS = 30.0
BYTES_PER_EXTRA_SECOND = 100_000  # the slowest upload still served: 100 kB/s after the first 30 s
# Of all bodies that are there or coming: two of the largest. They are read in turn, so that more
# would wait in memory in place of their clients.
LARGEST_AT_ONCE = 2
# A name, a password and where to go next: anybody may send these, and what is typed is shown again.
LOG_IN_PATHS = ("/admin/login/", "/admin/password-reset/")
LOG_IN_BYTES = 64 * 1024
# Python decodes what is percent-encoded by the character: 18 MB of it, which anybody may send to any
# page, took a gigabyte. Forms with files or long texts are multipart.
ENCODED_BYTES = 1024 * 1024
# Bytes of memory for one of a form: where it is decoded by the character, an object and three pointers
# for "%E2"; else four for a character beside an emoji, and six characters for a quote on the page that
# shows what was typed.
FORM_WEIGHT = 24

Refused: TypeAlias = Callable[[Scope, BodyTooLarge], Awaitable[None]]
_CLOSE = [(b"connection", b"close")]
# Only what is one: some clients say `utf-8` here, and send their JSON plain.
_COMPRESSIONS = frozenset(
    {b"gzip", b"x-gzip", b"deflate", b"br", b"zstd", b"compress", b"x-compress"}
)
# For people, whom a page tells them in their language, and for programs.
_STOPPED = gettext_noop(
    "The server stopped before the request body had come. Send it again in a few seconds."
)
_STALLED = gettext_noop(
    "The request body stalled while others waited for their turn to send. Send it again without a pause."
)
_SLOW = gettext_noop("The request body did not arrive within %(seconds).0f seconds. Send it again.")
_LONG_FORM = gettext_noop(
    "The form is longer than the %(most)d KB that are read of it. Write less into it."
)
_LONG_BODY = gettext_noop(
    "The request body is larger than the %(most)g MB this server accepts. Send less data, or ask the "
    "operator to raise COPILOT_MAX_BODY_MB."
)
_COMPRESSED = gettext_noop(
    "The request body is compressed (%(coding)s), which this server does not read. Send it plain, "
    "without Content-Encoding."
)
_NO_LENGTH = gettext_noop("Content-Length must be a whole number of bytes.")


class ClientLeft(Exception):
    """The client went away while it was still sending."""


class BodyLimits:
    """ASGI middleware that reads each body within its limits."""

    def __init__(
        self,
        app: App,
        *,
        max_bytes: int,
        patience: float = PATIENCE_SECONDS,
        on_refusal: Refused | None = None,
    ) -> None:
        """Limits bodies.

        Args:
            app: What answers requests whose body arrived.
            max_bytes: The most bytes a body may have.
            patience: Seconds a body may take, besides one for every 100 kB.
            on_refusal: Is told of each request whose body was too large.
        """
        self.app = app
        self.max_bytes = max_bytes
        self.patience = patience
        self.on_refusal = on_refusal
        self.room = BodyRoom(largest=max_bytes, most=LARGEST_AT_ONCE * max_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http" or not _has_body(scope):
            await self.app(scope, receive, send)
            return
        with self.room.share(weight=FORM_WEIGHT if is_form(scope) else 1) as share:
            await self._serve(scope, receive, send, share)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, share: Share) -> None:
        incoming = Incoming(receive)
        boundary = None if is_log_in(scope) else form_boundary(scope)
        try:
            body = await self._read(scope, incoming, boundary=boundary, share=share)
        except ClientLeft:
            return
        except asyncio.CancelledError:
            # The server has waited for as long as it may, and ends: nobody else cancels a request.
            # Raised on, it is a fault in the log and a 500.
            await send_refusal(scope, send, Unavailable(_STOPPED), headers=_CLOSE)
            return
        except BodyTimeout as error:  # who sends nothing hears this at once
            share.give_back()
            await send_refusal(scope, send, error, headers=_CLOSE)
            return
        except RequestError as error:
            # The whole answer leaves before anything is stored: a slow database delays nobody.
            # Nor does what came wait for the rest: 20 MB of each client that sends too much, slowly.
            share.give_back()
            await refuse(
                *(scope, incoming, send, strip_traceback(error)),
                then=partial(self._tell, scope, error),
                seconds=self.patience,
            )
            return
        shown = scope if boundary is None else with_length(scope, len(body))
        replayed = once_more({"type": "http.request", "body": body, "more_body": False}, receive)
        del body  # it goes with who reads it
        await self.app(shown, replayed, _giving_back(share, send))

    async def _tell(self, scope: Scope, error: RequestError) -> None:
        if self.on_refusal is not None and isinstance(error, BodyTooLarge):
            await self.on_refusal(scope, error)

    async def _read(
        self, scope: Scope, incoming: Incoming, *, boundary: bytes | None, share: Share
    ) -> bytes:
        _refuse_compressed(scope)
        declared = _declared_length(scope)
        kept = min(_most_kept(scope) or self.max_bytes, self.max_bytes)
        most = kept if boundary is None else max(kept, MOST_READ_BYTES)
        if declared is not None and declared > most:
            raise _too_large(kept, of_all=self.max_bytes)
        body = WholeBody() if boundary is None else FormBody(boundary, max_bytes=kept)
        seconds = self.patience + (declared or kept) / BYTES_PER_EXTRA_SECOND
        try:
            async with asyncio.timeout(seconds) as timer:
                share.on_put_out(partial(timer.reschedule, 0))
                whole = await self._collect(incoming, into=body, kept=kept, most=most, share=share)
                share.arrived()
                return whole
        except TimeoutError:
            if share.is_put_out:
                raise BodyTimeout(_STALLED) from None
            raise BodyTimeout(_SLOW, params={"seconds": seconds}) from None

    async def _collect(
        self,
        incoming: Incoming,
        *,
        into: WholeBody | FormBody,
        kept: int,
        most: int,
        share: Share,
    ) -> bytes:
        """The body when all of it has come, of which so much is kept and so much is read."""
        received = 0
        while not incoming.ended:
            message = await incoming.next()
            if message["type"] == "http.disconnect":
                raise ClientLeft
            part = message.get("body", b"")
            received += len(part)
            into.add(part)
            if received > most or into.size > kept:
                raise _too_large(kept, of_all=self.max_bytes)
            # As it comes: forms that had all come would wait for each other's room.
            await share.grow(into.size, came=received)
        return into.whole()


def is_log_in(scope: Scope) -> bool:
    """Whether a form is one of those that are there for everybody."""
    path: str = scope["path"]
    return path.startswith(LOG_IN_PATHS)


def _most_kept(scope: Scope) -> int | None:
    """How much of a form there may be, where that is less than of any body."""
    if is_log_in(scope):
        return LOG_IN_BYTES
    return ENCODED_BYTES if is_encoded(scope) else None


def _too_large(most: int, *, of_all: int) -> BodyTooLarge:
    if most < of_all:
        return BodyTooLarge(_LONG_FORM, params={"most": most // 1024})
    return BodyTooLarge(_LONG_BODY, params={"most": most / (1024 * 1024)})


def _has_body(scope: Scope) -> bool:
    """Whether a body may follow; only in HTTP/2 one of a GET need not be announced.

    Source: https://www.rfc-editor.org/rfc/rfc9112#section-6.3
    """
    if scope["method"] not in METHODS_WITHOUT_BODY or scope.get("http_version") == "2":
        return True
    for key, value in scope["headers"]:
        if key == b"transfer-encoding" or (key == b"content-length" and value != b"0"):
            return True
    return False


def _refuse_compressed(scope: Scope) -> None:
    """Before anything of it comes: what it would be unpacked has no limit, and nobody needs it."""
    codings = (header(scope, b"content-encoding") or b"").lower().split(b",")
    for coding in codings:
        if coding.strip() in _COMPRESSIONS:
            raise CompressedBody(_COMPRESSED, params={"coding": coding.strip().decode()})


def _declared_length(scope: Scope) -> int | None:
    value = header(scope, b"content-length")
    if value is None:
        return None
    value = value.strip()  # the parser leaves the blanks behind it
    if not value.isdigit():
        raise MalformedBody(_NO_LENGTH)
    return int(value)


def _giving_back(share: Share, send: Send) -> Send:
    """A `send` after whose first message the body is counted no longer: it has been read."""

    async def sent(message: Message) -> None:
        share.give_back()
        await send(message)

    return sent
