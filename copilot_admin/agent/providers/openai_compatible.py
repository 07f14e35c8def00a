"""Any server that speaks the chat completions API of OpenAI.

The body is parsed directly: an object for each chunk would cost more than all other processing.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import asdict
import logging
import re
from typing import Any, ClassVar
from urllib.parse import parse_qsl

import httpx2
import openai

from copilot_admin.agent.fetching.addresses import check_base_url
from copilot_admin.agent.llm.chat_request import (
    RequestRules,
    adapt_rules,
    build_request,
    describe_changes,
)
from copilot_admin.agent.llm.provider_errors import ProviderErrors
from copilot_admin.agent.llm.stream_parser import AnswerParser, StreamError
from copilot_admin.agent.providers.http_client import common_arguments, get_client, usable_key
from copilot_admin.agent.values.model_call import ALIVE, Alive, Delta, ModelCall, RunNote
from copilot_admin.agent.values.spec import ProviderSpec, ToolCalling
from copilot_admin.errors import ProviderBroke, RunError
from protocol.json import clean_json, json_of, objects_of, text_of

logger = logging.getLogger(__name__)
OPENAI = "https://api.openai.com/v1"
# Seconds to wait for the end of the body, which usually follows the end of the answer. A connection
# that was read to its end can be reused.
_DRAIN_SECONDS = 0.05
# Seconds of silence after a finish reason, which the usage follows immediately. Some servers never
# close, and some send a reason with every chunk.
_LAST_WORDS_SECONDS = 5.0
# Models whose chat template opens the reasoning, so that the answer only closes it: DeepSeek R1, QwQ,
# Qwen3 Thinking. The first answer is held until a tag, reasoning in a field of its own, or the end.
_OPENED = re.compile(r"(?:^|[-_/])(?:r1|qwq|thinking)(?![a-z])", re.IGNORECASE)
_MAX_ADAPTATIONS = 5  # of a request to restrictions of a server
_ADAPTABLE_STATUSES = frozenset({400, 404, 422, 500, 501})
# A model emits a token every 10 to 20 ms. Text that grows 12 times a second looks smooth. Reading
# the output of a tick for all streams in one turn of the loop halves the cost of a token.
_TICK_SECONDS = 1 / 12
_MAX_NAME_CHARACTERS = 200  # of a model, the limit of a copilot's field


class OpenAICompatible:
    """A model behind a URL, with a key or without."""

    kind: ClassVar[str] = "openai_compatible"
    label: ClassVar[str] = "OpenAI-compatible server"
    # By base URL and model: rules learned from rejections, so that each is met one time only.
    _learned_rules: ClassVar[dict[tuple[str, str, RequestRules], RequestRules]] = {}
    # By base URL and model: reasoning comes without an opening tag, as the last answer did.
    _thinks_first: ClassVar[dict[tuple[str, str], bool]] = {}

    def __init__(self, spec: ProviderSpec) -> None:
        self._spec = spec
        self._errors = ProviderErrors(spec)
        self._rules = RequestRules(
            streams=spec.options.streams,
            merges_messages=spec.options.merges_messages,
            has_system_role=spec.options.has_system_role,
            text_tools=spec.tool_calling is ToolCalling.TEXT,
        )

    @classmethod
    def make_client(cls, spec: ProviderSpec, http_client: httpx2.AsyncClient) -> openai.AsyncOpenAI:
        """Return the client for this provider, or raise `NotReady` or an `OpenAIError` with a reason."""
        base_url, _, query = check_base_url(spec.base_url or OPENAI).partition("?")
        client = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=usable_key(spec) or "none",
            default_query=dict(parse_qsl(query)),
            **common_arguments(spec, http_client),
        )
        # Not as arguments: empty ones would be read from the environment.
        client.organization = spec.options.organization or None
        client.project = spec.options.project or None
        return client

    async def stream(self, call: ModelCall) -> AsyncGenerator[Delta | Alive, None]:
        """Stream the answer: the first text immediately, the rest with each tick as one delta."""
        key = (self._spec.base_url, call.model)
        async with AsyncExitStack() as stack:
            response, rules, note = await self._open(call, stack)
            thinks_first = self._thinks_first.get(key, bool(_OPENED.search(call.model)))
            parser = AnswerParser(call, thinks_first=thinks_first, text_tools=rules.text_tools)
            try:
                async with aclosing(_read(response, parser)) as reads:
                    async for deltas in reads:
                        for delta in deltas or (ALIVE,):
                            yield delta
                        if note and deltas:  # without output, the model may still be called again
                            yield RunNote(note)
                            note = ""
            except (StreamError, RunError, httpx2.RequestError) as error:
                for delta in parser.rest():
                    yield delta
                if explained := self._explain(error, parser):
                    raise explained from None
                for delta in parser.end():
                    yield delta
        if parser.thinks_first is not None:
            self._thinks_first[key] = parser.thinks_first

    async def models(self) -> tuple[str, ...]:
        """Return the ids of the models that the server lists."""
        try:
            async with asyncio.timeout(self._spec.timeouts.first_token):
                client = await self._client()
                response = await client.models.with_raw_response.list(extra_headers=self._headers)
        except (openai.OpenAIError, TimeoutError) as error:
            raise self._errors.before_head(error) from error
        listed = json_of(response.content)
        rows = listed.get("data") or listed.get("models") if isinstance(listed, dict) else listed
        if not isinstance(rows, list):
            raise ProviderBroke(
                "The URL answers, but not with a list of models. Check that it ends at the API, "
                "often in /v1."
            )
        names = {text_of(row.get("id")) or text_of(row.get("name")) for row in objects_of(rows)}
        return tuple(
            name
            for name in sorted(names)
            if name.isprintable() and 0 < len(name) <= _MAX_NAME_CHARACTERS
        )

    async def _open(self, call: ModelCall, stack: AsyncExitStack) -> tuple[Any, RequestRules, str]:
        """Return the open response, the rules of the request, and a note.

        A rejected request is adapted to the error message and sent again.
        """
        client = await self._client()
        create = client.chat.completions.with_streaming_response.create
        key = (self._spec.base_url, call.model, self._rules)
        rules = known = self._learned_rules.get(key, self._rules)
        for left in range(_MAX_ADAPTATIONS, -1, -1):
            body = build_request(call, rules)
            # `extra_body` bypasses the SDK's type conversion of all messages, 10 ms a request.
            arguments: dict[str, Any] = {"messages": (), "stream": True}
            arguments["extra_body"] = clean_json(body)  # lone surrogates can't be encoded
            try:
                response = await stack.enter_async_context(
                    create(model=call.model, extra_headers=self._headers, **arguments)
                )
                break
            except openai.OpenAIError as error:
                adapted = None
                is_status = isinstance(error, openai.APIStatusError)
                if left and is_status and error.status_code in _ADAPTABLE_STATUSES:
                    adapted = adapt_rules(rules, error.response.text, body)
                if adapted is None:
                    raise self._errors.before_head(error) from error
                rules = adapted
        if rules != known:
            self._learned_rules[key] = rules
            logger.warning(
                "provider %r refuses parts of requests to %r, so they are changed: %s",
                self._spec.name,
                call.model,
                dict(asdict(rules).items() - asdict(self._rules).items()),
            )
        return response, rules, describe_changes(known, rules)

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
        except (openai.OpenAIError, httpx2.InvalidURL, UnicodeError) as error:
            raise self._errors.before_head(error) from error

    def _explain(self, error: Exception, parser: AnswerParser) -> RunError | None:
        """Return the error after the head, or None if there is at least part of an answer.

        Errors after a finish reason are ignored.
        """
        if parser.has_reason:
            return None
        if isinstance(error, StreamError):
            return self._errors.in_stream(error.error, started=parser.began)
        if isinstance(error, RunError):
            error.detail = self._errors.redact(error.detail)
            return error
        return None if parser.began else self._errors.amid_answer(error)


async def _read(response: Any, parser: AnswerParser) -> AsyncGenerator[Sequence[Delta], None]:
    """Yield the deltas of each read until the answer ends, or nothing follows its reason."""
    now = asyncio.get_running_loop().time
    until: float | None = None  # set as soon as the answer may be complete
    async with aclosing(response.iter_bytes()) as blocks:
        while until is None or now() < until:
            block = b""
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    block = await anext(blocks, b"")
            if not block:
                break
            deltas = parser.feed(block)
            yield deltas
            if parser.done:
                with suppress(TimeoutError, httpx2.RequestError):
                    async with asyncio.timeout(_DRAIN_SECONDS):
                        async for _ in blocks:
                            pass
                break
            if parser.began:  # wait for the next tick, which all streams of the event loop share
                await asyncio.sleep(_TICK_SECONDS - now() % _TICK_SECONDS)
            if parser.has_reason and (deltas or until is None):
                until = now() + _LAST_WORDS_SECONDS
    yield parser.end()
