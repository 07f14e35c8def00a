"""Any server that speaks the chat completions API of OpenAI.

The body is read raw: an object for each chunk costs more than everything else that is done with it.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing, suppress
import json
from typing import Any, ClassVar
from urllib.parse import parse_qsl

import httpx2
import openai

from copilot_admin.agent.fetching.addresses import check_base_url
from copilot_admin.agent.llm.chat_chunks import ChunkReader, StreamError
from copilot_admin.agent.llm.chat_request import RequestRules, build_request
from copilot_admin.agent.llm.data_lines import EitherForm
from copilot_admin.agent.llm.provider_errors import (
    ProviderFaults,
    names_web_page,
    web_page,
)
from copilot_admin.agent.llm.ticker import SharedSleep
from copilot_admin.agent.providers.http_client import get_client
from copilot_admin.agent.providers.listed_models import parse_models
from copilot_admin.agent.values.model_call import ALIVE, Alive, Delta, ModelCall, ServerReply
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.errors import NotReady, RunError
from protocol.json import JsonObject

OPENAI = "https://api.openai.com/v1"
# The end of the body usually lies behind the end of the answer; a connection read to it is used
# again, and this is how long that is worth waiting for, in seconds.
_DRAIN_SECONDS = 0.05
# Of silence behind the finish reason, which the usage follows at once; some servers never close.
_LAST_WORDS_SECONDS = 5.0
# A model says a word every 10 to 20 ms; text that grows 20 times a second grows smoothly. Taking what came
# meanwhile in one read, of all streams in one turn of the loop, halves what a word costs.
_READING = SharedSleep(1 / 20)


class OpenAICompatible:
    """A model behind a URL, with a key or without."""

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
    # Base URLs that rejected `stream_options`; it isn't sent to them again.
    _without_usage: ClassVar[set[str]] = set()

    def __init__(self, spec: ProviderSpec) -> None:
        self._spec = spec
        self._faults = ProviderFaults(spec)

    @classmethod
    def make_client(cls, spec: ProviderSpec, http_client: httpx2.AsyncClient) -> openai.AsyncOpenAI:
        """Return the client that asks this provider.

        Raises:
            NotReady: The URL or the key can't be used; the text says why.
        """
        key = usable_key(spec)
        base_url, _, query = check_base_url(spec.base_url or OPENAI).partition("?")
        client = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=key or "none",
            http_client=http_client,
            default_query=dict(parse_qsl(query)),
            **common_arguments(spec),
        )
        # Not as arguments: an empty one is read from the environment.
        client.organization = spec.options.organization or None
        client.project = spec.options.project or None
        return client

    async def stream(self, call: ModelCall) -> AsyncGenerator[Delta | Alive, None]:
        """Stream the answer; text that arrives in one read is one delta.

        The first words are read when they come, what follows with the next tick.

        Raises:
            RunError: The provider was not reached, refused, or broke; its class says which.
        """
        reader = ChunkReader()
        body = EitherForm()
        loop = asyncio.get_running_loop()
        started = said = False
        async with AsyncExitStack() as stack:
            response = await self._open(call, stack)
            try:
                blocks = await stack.enter_async_context(aclosing(response.iter_bytes()))
                while block := await _next_block(blocks, reader):
                    found = reader.read(body.feed(block))
                    said = said or bool(found)
                    started = said or reader.began
                    for delta in found or ((ALIVE,) if reader.began else ()):
                        yield delta
                    if reader.done:
                        await _drain(blocks)
                        break
                    body.check()
                    if said and b"\n" in block:  # else amid an event
                        await _READING.wait(loop)
                for delta in reader.read_last(() if reader.done else body.end()):
                    yield delta
            except (StreamError, RunError, httpx2.RequestError) as error:
                for delta in reader.rest():
                    yield delta
                explained = self._explain(error, started=started, reader=reader)
                if explained is not None:
                    raise explained from None
        for delta in reader.end(call):
            yield delta

    async def models(self) -> tuple[str, ...]:
        """Return the ids of the models that the server lists.

        Raises:
            RunError: The provider was not reached, or refused.
        """
        try:
            async with asyncio.timeout(self._spec.timeouts.first_token):
                client = await self._client()
                response = await client.models.with_raw_response.list(extra_headers=self._headers)
        except (openai.OpenAIError, TimeoutError) as error:
            raise self._faults.before_head(error) from error
        return parse_models(response.content)

    async def _open(self, call: ModelCall, stack: AsyncExitStack) -> Any:
        """Send the request and return the response, whose body is left to read."""
        url = self._spec.base_url
        client = await self._client()
        try:
            try:
                body = build_request(call, RequestRules(with_usage=url not in self._without_usage))
                response = await self._send(client, body, stack)
            except openai.APIStatusError as error:
                if "stream_options" not in body or "stream_options" not in error.response.text:
                    raise
                self._without_usage.add(url)
                body = build_request(call, RequestRules(with_usage=False))
                response = await self._send(client, body, stack)
        except openai.OpenAIError as error:
            raise self._faults.before_head(error) from error
        if names_web_page(response.headers.get("Content-Type", "")):
            raise web_page()
        return response

    async def _send(
        self, client: openai.AsyncOpenAI, body: JsonObject, stack: AsyncExitStack
    ) -> Any:
        create = client.chat.completions.with_streaming_response.create
        # `extra_body` skips the SDK's walk through the types of all messages, 10 ms a request.
        arguments = {"messages": (), "extra_headers": self._headers, "stream": True}
        model = body["model"]
        try:
            manager = create(model=model, extra_body=body, **arguments)
            return await stack.enter_async_context(manager)
        except UnicodeEncodeError:  # lone surrogates
            text = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
            manager = create(model=model, extra_body=json.loads(text), **arguments)
            return await stack.enter_async_context(manager)

    @property
    def _headers(self) -> dict[str, Any]:
        """Headers of each request; without a key there is no authorization."""
        named = {name.lower() for name, _ in self._spec.options.headers}
        if self._spec.api_key.strip() or "authorization" in named:
            return {}
        return {"Authorization": openai.Omit()}

    async def _client(self) -> openai.AsyncOpenAI:
        try:
            return await get_client(self._spec, type(self).make_client)
        except (httpx2.InvalidURL, UnicodeError) as error:
            raise self._faults.no_url() from error
        except openai.OpenAIError as error:  # credentials or a package are missing
            raise self._faults.before_head(error) from error

    def _explain(self, error: Exception, *, started: bool, reader: ChunkReader) -> RunError | None:
        """Return what went wrong after the head; None when there is an answer all the same, or half.

        Behind an answer whose end was told a server may write what it likes.
        """
        if reader.said_why:
            return None
        if isinstance(error, StreamError):
            return self._faults.in_stream(error.error, started=started or reader.began)
        if isinstance(error, RunError):
            return error
        return None if started else self._faults.amid_answer(error)


def usable_key(spec: ProviderSpec) -> str:
    """Return the key of a provider without blanks around it.

    Raises:
        NotReady: It can't stand in a header.
    """
    key = spec.api_key.strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise NotReady(
            f"The key of the provider {spec.name!r} holds blanks or letters that no key "
            "has. Enter it again."
        )
    return key


def common_arguments(spec: ProviderSpec) -> dict[str, Any]:
    """Return the arguments that the clients of all kinds share."""
    headers = {"Accept-Encoding": "identity", "User-Agent": "copilot-admin"}
    return {
        "default_headers": headers | dict(spec.options.headers),
        "max_retries": 0,  # `stream_model` retries, and counts what failed
        "timeout": httpx2.Timeout(None, connect=spec.timeouts.connect),
    }


async def _next_block(blocks: Any, reader: ChunkReader) -> bytes:
    """Return the next block of the body, empty at its end."""
    if not reader.said_why:
        return await anext(blocks, b"")
    with suppress(TimeoutError):
        async with asyncio.timeout(_LAST_WORDS_SECONDS):
            return await anext(blocks, b"")
    return b""


async def _drain(blocks: Any) -> None:
    with suppress(TimeoutError, httpx2.RequestError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in blocks:
                pass
