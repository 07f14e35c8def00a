"""Django's handler, which takes bodies as they are and lets go of them early.

The edge has read each body whole: the stock handler writes it into a file, by the megabyte in the
event loop, and reads it back. And a task that it cancels keeps it alive, with request and response,
until the garbage collector comes by.
"""

import asyncio
import gc
from io import BytesIO
import logging
from sys import getsizeof
from threading import Lock
from typing import IO, Any, cast

from django import db
from django.conf import settings
from django.core.exceptions import RequestAborted, RequestDataTooBig, TooManyFieldsSent
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.http.multipartparser import MultiPartParserError
from django.template.response import TemplateResponse
from django.utils.datastructures import MultiValueDict

from copilot_admin.http.asgi_types import Receive, Scope, Send, is_api, once_more
from copilot_admin.http.encoded_forms import PIECE, read_encoded
from copilot_admin.http.form_bodies import form_boundary, is_encoded
from copilot_admin.http.form_parts import check_parts
from copilot_admin.http.heaps import give_back_gaps
from copilot_admin.storage.errors import is_outage

logger = logging.getLogger(__name__)

# Ten forms of thousands of fields, each read in its own thread, held the event loop up for a second:
# so many threads wanted the interpreter's lock before it.
_READING_FORMS = Lock()
# Of the texts in one form, escaped: the page that shows them again has some seven copies of them.
# Ten megabytes typed into a prompt are; four of quotes beside one emoji took 600 MB.
MOST_SHOWN_BYTES = 12 * 1024 * 1024
# Beyond it forms are answered one after the other, and what a page leaves behind goes at once: forms and
# their fields hold each other, so three pages of 10 MB took 370 MB.
_LARGE_FORM_BYTES = 1024 * 1024
_ESCAPED = "&<>\"'"
_SHORT = 1024  # characters; thousands of such texts are no more than the form may have in bytes
_MORE_WHEN_ESCAPED = 5  # characters, of a quote


class Request(ASGIRequest):
    """A request whose body is there, within the limits of the edge."""

    _encoding: str | None
    _post: QueryDict
    _read_started: bool
    _files: MultiValueDict[str, Any]

    def __init__(self, scope: Scope, body_file: IO[Any]) -> None:
        super().__init__(scope, body_file)
        if is_api(scope["path"]) and isinstance(body_file, BytesIO):
            # Django's own limit is for the texts of forms, and lower.
            self._body = body_file.getvalue()  # no copy

    def _load_post_and_files(self) -> None:
        """Reads a form; one after the other.

        Raises:
            RequestDataTooBig: The page that shows it again would take too much memory.
            TooManyFieldsSent: As with `check_parts`, and as Django does.
            MultiPartParserError: As with `check_parts`, and as Django does.
        """
        with _READING_FORMS:
            self._check_parts()
            if self._is_long_encoded():
                self._post, self._files = QueryDict(), MultiValueDict()  # for who looks again
                self._post = read_encoded(self.body)
            else:
                super()._load_post_and_files()  # there is no public way
            if _shown_bytes_of(self._post) > MOST_SHOWN_BYTES:
                self._post = QueryDict()
                raise RequestDataTooBig("The page that shows the form again would be too large.")

    def _is_long_encoded(self) -> bool:
        """Whether it is a form that Django would decode in a few long calls."""
        if self.method != "POST" or not is_encoded(cast(Scope, self.scope)):
            return False
        if (self._encoding or "utf-8").lower() != "utf-8" or self._read_started:
            return False  # Django says what is wrong with it
        return isinstance(self._stream, BytesIO) and self._stream.getbuffer().nbytes > PIECE

    def _check_parts(self) -> None:
        boundary = form_boundary(cast(Scope, self.scope))
        if boundary is None or not isinstance(self._stream, BytesIO):
            return
        try:
            check_parts(self._stream.getvalue(), boundary)  # no copy
        except (TooManyFieldsSent, MultiPartParserError):
            self._post, self._files = QueryDict(), MultiValueDict()  # for who looks again
            raise


class Handler(ASGIHandler):
    """The handler of this server."""

    request_class = Request

    def __init__(self) -> None:
        super().__init__()
        self._large_forms = asyncio.Lock()

    async def run_get_response(self, request: HttpRequest) -> HttpResponseBase:
        """Answers a request; when the answer is there, what was sent has been read."""
        if not _is_large_form(request):
            response = await super().run_get_response(request)
            forget_form(request)
            return response
        async with self._large_forms:
            response = await super().run_get_response(request)
            forget_form(request)
            if isinstance(response, TemplateResponse):
                # A form that is shown again, and only to who is logged in.
                response.context_data = None
                gc.collect()  # some 50 ms; to draw the page took longer
            await asyncio.to_thread(give_back_gaps)
            return response

    async def send_response(self, response: HttpResponseBase, send: Send) -> None:
        """Sends an answer, with its length where that is known.

        One that is read as it is sent, such as a download, ends early while the database is away: the
        server ends the connection of an answer without an end.
        """
        if isinstance(response, HttpResponse) and response.content:
            response.headers.setdefault("Content-Length", str(len(response.content)))
        try:
            await super().send_response(response, send)  # type: ignore[arg-type]  # messages are only read
        except db.Error as error:
            if not is_outage(error):
                raise
            logger.warning("an answer was not sent to its end: %s", type(error).__name__)

    async def read_body(self, receive: Receive) -> IO[Any]:  # type: ignore[override]  # any file will do
        """The body as a file, without a copy where it came in one message.

        Raises:
            RequestAborted: The client has left.
        """
        first = await receive()
        if first["type"] == "http.disconnect":
            raise RequestAborted
        if first.get("more_body", False):  # somebody put Django behind another edge
            return await super().read_body(once_more(first, receive))
        return BytesIO(first.get("body", b""))


def most_together() -> int:
    """How many bytes the texts of one form may have, as they came and as a page shows them."""
    return min(settings.DATA_UPLOAD_MAX_MEMORY_SIZE or MOST_SHOWN_BYTES, MOST_SHOWN_BYTES)


def _shown_bytes_of(form: QueryDict) -> int:
    return sum(_shown_bytes(text) for _, values in form.lists() for text in values)


def _shown_bytes(text: str) -> int:
    """What a text takes in a page."""
    if len(text) < _SHORT:
        return 0
    more = _MORE_WHEN_ESCAPED * sum(map(text.count, _ESCAPED))
    return getsizeof(text) * (len(text) + more) // len(text)


def _is_large_form(request: HttpRequest) -> bool:
    size = request.META.get("CONTENT_LENGTH") or "0"
    return not is_api(request.path) and int(size) > _LARGE_FORM_BYTES


def forget_body(request: HttpRequest) -> None:
    """Lets go of a body that was read: the request outlives its answer."""
    request._body = b""  # there is no public way
    request._stream = BytesIO()  # it holds the body as well


def forget_form(request: HttpRequest) -> None:
    """Lets go of a form that was answered: who takes the answer in drops would keep it."""
    if "_post" in vars(request):
        vars(request).update(_post=QueryDict(), _files=MultiValueDict())
        forget_body(request)
