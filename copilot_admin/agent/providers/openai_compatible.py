"""Any server that speaks the chat completions API of OpenAI.

The stream is read raw: an object for each chunk costs more than everything else that is done with
the chunk together.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from io import BytesIO
from typing import ClassVar

from aiohttp import ClientResponse, ClientTimeout

from copilot_admin.agent.fetching.addresses import check_base_url
from copilot_admin.agent.fetching.packing import is_strange
from copilot_admin.agent.fetching.pieces import next_piece
from copilot_admin.agent.llm import listed_models
from copilot_admin.agent.llm.chat_chunks import ChunkReader, StreamError
from copilot_admin.agent.llm.chat_request import request_body
from copilot_admin.agent.llm.data_lines import EitherForm
from copilot_admin.agent.llm.provider_bodies import blocks_of_answer, first_bytes
from copilot_admin.agent.llm.provider_errors import (
    CONNECTION_ERRORS,
    ProviderFaults,
    names_web_page,
    strangely_packed,
    web_page,
)
from copilot_admin.agent.llm.provider_sessions import Connection, aclose_sessions, connection_for
from copilot_admin.agent.llm.retries import LoopTurns, SharedSleep
from copilot_admin.agent.values.model_call import ALIVE, Alive, Delta, ModelCall, ServerReply
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.errors import NotReady, RunError

OPENAI = "https://api.openai.com/v1"
# The end of the body usually lies behind the end of the answer; a connection read to it is used
# again, and this is how long that is worth waiting for, in seconds.
_DRAIN_SECONDS = 0.05
# What stands behind the end of an answer, the tokens that it took, follows at once.
_LAST_WORDS_SECONDS = 5.0
# Of silence behind what may be the end of a body, although nothing says that it is: an event without
# a blank line, a document without a length.
_SETTLED_SECONDS = 1.0
_MOST_ERROR_BYTES = 64 * 1024
# A model says a word every 10 to 20 ms; text that grows 20 times a second grows smoothly. Taking what came
# meanwhile in one read, of all streams in one turn of the loop, halves what a word costs.
_READING = SharedSleep(1 / 20)
# So many bytes at once are more than the beginning of an answer: whoever sends signs of life by the
# thousand is read no faster than words.
_MUCH = 400
# Bytes that take a millisecond to read where they are small events, or one of many values. What comes
# within one tick is less, however fast a model is.
_LONG = 4 * 1024
_LONG_READING = LoopTurns()


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
        self._faults = ProviderFaults(spec)
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
        try:
            async with aclosing(self._blocks(response, reader, body)) as blocks:
                async for block in blocks:
                    await _turn(len(block) + body.held, loop)
                    found = reader.read(body.feed(block) if block else body.settle())
                    said = said or bool(found)
                    started = said or reader.began
                    for delta in found or ((ALIVE,) if block and reader.began else ()):
                        yield delta
                    if reader.done or body.is_over:
                        await _drain(response)
                        break
                    body.check()
                    if (said or len(block) > _MUCH) and b"\n" in block:  # else amid an event
                        await _READING.wait(loop)
            await _turn(body.held, loop)
            for delta in reader.read_last(() if reader.done else body.end()):
                yield delta
        except (StreamError, RunError, *CONNECTION_ERRORS) as error:
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

    def _blocks(
        self, response: ClientResponse, reader: ChunkReader, body: EitherForm
    ) -> AsyncGenerator[bytes, None]:
        return blocks_of_answer(
            response,
            is_whole=lambda: reader.said_why,
            soon=min(_LAST_WORDS_SECONDS, self._spec.timeouts.between_tokens / 2),
            patience=lambda: _SETTLED_SECONDS if body.held else None,
        )

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
                most = listed_models.MOST_BYTES
                body = await first_bytes(response, most=most, silence=soon) if said is None else b""
        except CONNECTION_ERRORS as error:  # a timeout is an OSError
            raise self._faults.before_head(error) from error
        if said is not None:
            raise self._faults.refused(response, said)
        return listed_models.model_ids(body)

    @classmethod
    async def aclose_shared(cls) -> None:
        """Closes the connections of the running loop."""
        await aclose_sessions()

    async def _open(self, call: ModelCall) -> ClientResponse:
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
        except CONNECTION_ERRORS as error:
            raise self._faults.before_head(error) from error
        if said is not None:
            raise self._faults.refused(response, said)
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
        headers = dict(connection.headers)
        return await connection.session.request(
            method,
            address,
            data=None if content is None else BytesIO(content),  # which aiohttp sends in pieces
            headers=headers,
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
            return self._faults.in_stream(error.error, started=started or reader.began)
        if isinstance(error, RunError):
            return error
        return None if started else self._faults.amid_answer(error)


async def _why_refused(response: ClientResponse, *, soon: float) -> str | None:
    """What a refusal says, as far as it is read; None of a success, whose body is left to read.

    Its status says most of it: what does not come within `soon` seconds is not waited for.
    """
    if response.status < 300:
        return None
    said = await first_bytes(response, most=_MOST_ERROR_BYTES, seconds=soon)
    return said.decode("utf-8", "replace")


async def _turn(size: int, loop: asyncio.AbstractEventLoop) -> None:
    if size > _LONG:
        await _LONG_READING.wait(loop)


async def _drain(response: ClientResponse) -> None:
    if response.content.is_eof():  # it has come with the last words, as nearly always
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while await next_piece(response):
                pass
