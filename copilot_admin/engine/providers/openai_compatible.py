"""Any server that speaks the chat completions API of OpenAI.

The stream is read raw: an object for each chunk costs more than everything else that is done with
the chunk together.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from typing import ClassVar

from aiohttp import ClientError, ClientResponse, ClientTimeout, InvalidURL

from copilot_admin.engine.fetching.addresses import ForbiddenAddress, check_base_url
from copilot_admin.engine.fetching.packing import is_strange
from copilot_admin.engine.fetching.pieces import next_piece
from copilot_admin.engine.llm.chat_chunks import ChunkReader, StreamError, leniently_parsed
from copilot_admin.engine.llm.chat_request import request_body
from copilot_admin.engine.llm.data_lines import EitherForm
from copilot_admin.engine.llm.foreign_answers import (
    broke_off,
    names_web_page,
    strangely_packed,
    web_page,
)
from copilot_admin.engine.llm.http_refusals import refusal, seconds_to_wait
from copilot_admin.engine.llm.provider_bodies import blocks_of_answer, first_bytes
from copilot_admin.engine.llm.provider_sessions import Connection, aclose_sessions, connection_for
from copilot_admin.engine.llm.ticker import SharedSleep, Turns
from copilot_admin.engine.values.model_call import ALIVE, Alive, Delta, ModelCall, ServerReply
from copilot_admin.engine.values.spec import ProviderSpec
from copilot_admin.errors import (
    NotReady,
    ProviderBroke,
    ProviderUnavailable,
    RunError,
)
from protocol.json import Json
from protocol.json_tokens import has_more_tokens

OPENAI = "https://api.openai.com/v1"
# Of a host name that no resolver is asked for, since a part of it is empty or too long.
_NO_HOST = UnicodeError
_CONNECTION_ERRORS = (ClientError, OSError, _NO_HOST)
# The end of the body usually lies behind the end of the answer; a connection read to it is used
# again, and this is how long that is worth waiting for, in seconds.
_DRAIN_SECONDS = 0.05
# What stands behind the end of an answer, the tokens that it took, follows at once.
_LAST_WORDS_SECONDS = 5.0
_DETAIL_CHARACTERS = 500
_MOST_ERROR_BYTES = 64 * 1024
_MOST_MODELS_BYTES = 8 * 1024 * 1024  # OpenRouter lists some hundred models in less than 1 MB
# Counted as those of a body are: a few for each of what is said of a model. Eight megabytes of nothing but
# brackets take 300 MB, and hold the interpreter for most of a second.
_MOST_MODELS_VALUES = 500_000
_MOST_MODELS = 10_000  # a page offers them all
_LONGEST_MODEL = 200  # characters, as many as a copilot has room for
_TOO_MANY_MODELS = "The address lists more models than can be read. Enter the model."
# A model says a word every 10 to 20 ms; text that grows 20 times a second grows smoothly. Taking what came
# meanwhile in one read, of all streams in one turn of the loop, halves what a word costs.
_READING = SharedSleep(1 / 20)
# So many bytes at once are more than the beginning of an answer: whoever sends signs of life by the
# thousand is read no faster than words.
_MUCH = 400
# Bytes that take a millisecond to read where they are small events, or one of many values. What comes
# within one tick is less, however fast a model is.
_LONG = 4 * 1024
_LONG_READING = Turns()
_STATUS_NUMBERS = frozenset(map(str, range(400, 600)))
_STATUS_WORDS = {
    "rate_limit": 429,
    "insufficient_quota": 402,
    "overloaded": 503,
    "server_error": 500,
    "authentication": 401,
    "context_length_exceeded": 413,
}


class OpenAICompatible:
    """A model behind an address, with a key or without."""

    kind: ClassVar[str] = "openai_compatible"
    label: ClassVar[str] = "OpenAI-compatible server"
    samples: ClassVar[Mapping[str, ServerReply]] = {
        "/models": ServerReply(body='{"data": [{"id": "small"}]}'),
        "/chat/completions": ServerReply(
            content_type="text/event-stream",
            body='data: {"choices": [{"index": 0, "delta": {"content": "Hello"}}]}\n\n'
            'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'
            "data: [DONE]\n\n",
        ),
    }
    # Addresses that refused to be asked for usage, so that each is asked in vain only once.
    _without_usage: ClassVar[set[str]] = set()

    def __init__(self, spec: ProviderSpec) -> None:
        self._spec = spec
        connect = spec.timeouts.connect
        # Silence after the connection is watched by the engine.
        self._timeout = ClientTimeout(total=None, connect=connect, sock_connect=connect)

    async def stream(self, call: ModelCall) -> AsyncGenerator[Delta | Alive, None]:
        """Streams the answer; text that arrives in one read is one delta.

        The first words are read when they come, what follows with the next tick.

        Raises:
            RunError: The provider was not reached, refused, or broke; which class says which.
        """
        response = await self._open(call)
        reader = ChunkReader()
        body = EitherForm()
        loop = asyncio.get_running_loop()
        started = said = False
        soon = min(_LAST_WORDS_SECONDS, self._spec.timeouts.between_tokens / 2)
        try:
            async with aclosing(
                blocks_of_answer(response, is_whole=lambda: reader.said_why, soon=soon)
            ) as blocks:
                async for block in blocks:
                    await _turn(len(block) + body.held, loop)
                    found = reader.read(body.feed(block))
                    said = said or bool(found)
                    started = said or reader.began
                    for delta in found or ((ALIVE,) if reader.began else ()):
                        yield delta
                    if reader.done:
                        await _drain(response)
                        break
                    body.check()
                    if (said or len(block) > _MUCH) and b"\n" in block:  # else amid an event
                        await _READING.wait(loop)
            await _turn(body.held, loop)
            for delta in reader.read_last(() if reader.done else body.end()):
                yield delta
        except (StreamError, RunError, *_CONNECTION_ERRORS) as error:
            # The body keeps its error, and that would keep this frame: all that the model was told.
            error.__traceback__ = None
            for delta in reader.rest():
                yield delta
            explained = self._explained(error, started=started, reader=reader)
            if explained is not None:
                raise explained from None
        finally:
            response.close()  # nothing happens where all of it was read
        for delta in reader.end(call):
            yield delta

    async def models(self) -> tuple[str, ...]:
        """The ids of the models that the server lists.

        Raises:
            RunError: The provider was not reached, or refused.
        """
        soon = min(_LAST_WORDS_SECONDS, self._spec.timeouts.first_token / 2)
        try:
            async with asyncio.timeout(self._spec.timeouts.first_token):
                connection = await self._connection()
                response = await self._send(connection, "GET", connection.models)
                said = await _why_refused(response, soon=soon)
                body = await first_bytes(response, most=_MOST_MODELS_BYTES) if said is None else b""
        except _CONNECTION_ERRORS as error:  # a timeout is an OSError
            raise self._translated(error) from error
        if said is not None:
            raise self._refused(response, said)
        return _model_ids(body)

    @classmethod
    async def aclose_shared(cls) -> None:
        """Closes the connections of the running loop."""
        await aclose_sessions()

    async def _open(self, call: ModelCall) -> ClientResponse:
        """Sends the request; a server that does not know usage is asked again without it."""
        address = self._spec.base_url
        soon = min(_LAST_WORDS_SECONDS, self._spec.timeouts.first_token / 2)
        with_usage = address not in self._without_usage
        try:
            response = await self._post(call, with_usage=with_usage)
            said = await _why_refused(response, soon=soon)
            if with_usage and said is not None and "stream_options" in said:
                self._without_usage.add(address)
                response = await self._post(call, with_usage=False)
                said = await _why_refused(response, soon=soon)
        except _CONNECTION_ERRORS as error:
            raise self._translated(error) from error
        if said is not None:
            raise self._refused(response, said)
        if names_web_page(response.headers.get("Content-Type", "")):
            response.close()
            raise web_page()
        if is_strange(response.headers.get("Content-Encoding", "")):
            response.close()
            raise strangely_packed()
        return response

    async def _post(self, call: ModelCall, *, with_usage: bool) -> ClientResponse:
        connection = await self._connection()
        body = request_body(call, with_usage=with_usage)
        return await self._send(connection, "POST", connection.completions, content=body)

    async def _send(
        self,
        connection: Connection,
        method: str,
        address: str,
        *,
        content: bytes | None = None,
    ) -> ClientResponse:
        """Asks with a connection of the session; the body is left to read."""
        return await connection.session.request(
            method,
            address,
            data=content,
            headers=connection.headers,
            allow_redirects=False,
            timeout=self._timeout,
        )

    async def _connection(self) -> Connection:
        key = self._spec.api_key.strip()
        if not key.isascii() or not key.isprintable() or " " in key:
            raise NotReady(
                f"The key of the provider {self._spec.name!r} holds blanks or letters that no key "
                "has. Enter it again."
            )
        address = check_base_url(self._spec.base_url or OPENAI)
        return await connection_for(base_url=address, api_key=key)

    def _explained(
        self, error: Exception, *, started: bool, reader: ChunkReader
    ) -> RunError | None:
        """What went wrong after the head; None when there is an answer all the same, or half.

        Behind an answer whose end was told a server may write what it likes.
        """
        if reader.said_why:
            return None
        if isinstance(error, StreamError):
            return self._in_stream(error.error, started=started or reader.began)
        if isinstance(error, RunError):
            return error
        return None if started else broke_off(self._causes_of(error))

    def _refused(self, response: ClientResponse, said: str) -> RunError:
        """What a status other than success means."""
        return refusal(
            response.status,
            said,
            provider=self._spec.name,
            detail=self._detail(said),
            retry_after=seconds_to_wait(response.headers.get("Retry-After"), now=datetime.now(UTC)),
        )

    def _translated(self, error: Exception) -> RunError:
        """What went wrong before the head."""
        name = self._spec.name
        for cause in _causes(error):
            if isinstance(cause, ForbiddenAddress):
                return NotReady(str(cause))
            if isinstance(cause, InvalidURL | _NO_HOST):
                return NotReady(f"The address of the provider {name!r} is no URL. Correct it.")
        return ProviderUnavailable(
            f"The provider {name!r} could not be reached. Ask again in a moment; if it stays so, "
            "whoever manages this copilot should check that the model server runs.",
            detail=self._causes_of(error),
        )

    def _causes_of(self, error: Exception) -> str:
        """What an operator may read of a connection that broke."""
        causes = _causes(error)
        return self._detail(" <- ".join(f"{type(one).__name__}: {one}" for one in causes))

    def _in_stream(self, error: Json, *, started: bool) -> RunError:
        """An error object that came with HTTP 200."""
        said = _in_words(error)
        detail = self._detail(said)
        status = _status(error)
        if not started and status is not None:
            return refusal(status, said, provider=self._spec.name, detail=detail)
        return ProviderBroke(
            f"The provider {self._spec.name!r} reported an error while it answered. Ask again.",
            detail=detail,
        )

    def _detail(self, text: str) -> str:
        """What an operator may read: without the key, which some servers repeat."""
        key = self._spec.api_key.strip()
        text = text.replace(key, "[key]") if key else text
        return text[:_DETAIL_CHARACTERS]


async def _why_refused(response: ClientResponse, *, soon: float) -> str | None:
    """What a refusal says, as far as it is read; None of a success, whose body is left to read.

    Its status says most of it: what does not come within `soon` seconds is not waited for.
    """
    if response.status < 300:
        return None
    said = await first_bytes(response, most=_MOST_ERROR_BYTES, seconds=soon)
    return said.decode("utf-8", "replace")


async def _turn(size: int, loop: asyncio.AbstractEventLoop) -> None:
    """Waits until so many bytes may be read; where they are few, at once."""
    if size > _LONG:
        await _LONG_READING.wait(loop)


async def _drain(response: ClientResponse) -> None:
    if response.content.is_eof():  # it has come with the last words, as nearly always
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while await next_piece(response):
                pass


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _in_words(error: Json) -> str:
    try:
        return str(error)
    except RecursionError:
        return "an error that is nested too deep to be written down"


def _status(error: Json) -> int | None:
    """The HTTP status that an error object names, in a number or in words."""
    if not isinstance(error, dict):
        return None
    for key in ("code", "status", "status_code"):
        value = error.get(key)
        if isinstance(value, str) and value in _STATUS_NUMBERS:
            return int(value)
        if isinstance(value, int) and 400 <= value < 600:
            return value
    words = " ".join(str(error[key]) for key in ("type", "code") if isinstance(error.get(key), str))
    return next((status for word, status in _STATUS_WORDS.items() if word in words), None)


def _model_ids(body: bytes) -> tuple[str, ...]:
    if len(body) == _MOST_MODELS_BYTES or has_more_tokens(body, _MOST_MODELS_VALUES):
        raise ProviderBroke(_TOO_MANY_MODELS)
    try:
        listed = leniently_parsed(body)
    except ValueError:
        listed = None
    rows = listed.get("data") or listed.get("models") if isinstance(listed, dict) else listed
    if not isinstance(rows, list):
        raise ProviderBroke(
            "The address answers, but not with a list of models. Check that it ends where the API "
            "begins, often in /v1."
        )
    named = (row.get("id") or row.get("name") for row in rows if isinstance(row, dict))
    names = {name for name in named if isinstance(name, str) and _may_be_chosen(name)}
    if len(names) > _MOST_MODELS:
        raise ProviderBroke(_TOO_MANY_MODELS)
    return tuple(sorted(names))


def _may_be_chosen(name: str) -> bool:
    return len(name) <= _LONGEST_MODEL and name.isprintable()
