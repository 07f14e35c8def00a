"""Errors of providers and their deadlines: what users are told, and what operators read."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
import json

import httpx2
import openai
import pytest

from copilot_admin.agent.llm.model_stream import stream_model
from copilot_admin.agent.llm.provider_errors import ProviderErrors, seconds_to_wait
from copilot_admin.agent.values.model_call import ALIVE, Alive, Delta, Finish, ModelCall, TextDelta
from copilot_admin.agent.values.spec import ProviderSpec, Timeouts
from copilot_admin.errors import (
    ProviderBusy,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RunError,
)
from tests.agent.scripted import ScriptedProvider, broken, stalled
from tests.agent.virtual_time import run_at_once

ERRORS = ProviderErrors(ProviderSpec(name="local", kind="openai_compatible"))
TOO_LONG = "too long for the model"
FILTERED = "content filter of the provider"
NO_TOOLS = "can't call tools"
ROLES = "wants other roles of messages"
REGION = "doesn't serve the region"
NO_CREDIT = "is used up"
NO_KEY = "did not accept the key"
NO_ACCESS = "has no access to the model"
# Who writes it, with which status, and what it means. Sources: the providers' documents of errors
# and the source of the open servers, in issues of their users where there is neither.
WORDS = [
    ("OpenAI", 400, "This model's maximum context length is 128000 tokens.", TOO_LONG),
    ("OpenAI", 400, "Your input exceeds the context window of this model.", TOO_LONG),
    ("Azure", 400, '{"code": "context_length_exceeded"}', TOO_LONG),
    ("Anthropic", 400, "prompt is too long: 210123 tokens > 200000 maximum", TOO_LONG),
    ("Anthropic", 400, "input length and `max_tokens` exceed context limit: 9 + 9 > 8", TOO_LONG),
    ("Gemini", 400, "The input token count (12) exceeds the maximum number of tokens", TOO_LONG),
    ("xAI", 400, "This model's maximum prompt length is 131072 but the request has 9", TOO_LONG),
    ("Bedrock", 400, "Input is too long for requested model.", TOO_LONG),
    ("Mistral", 400, "too large for model with 32768 maximum context length", TOO_LONG),
    ("Qwen", 400, "Range of input length should be [1, 129024]", TOO_LONG),
    ("Zhipu", 400, "Prompt exceeds max length", TOO_LONG),
    ("Moonshot", 400, "Your request exceeded model token limit: 131072", TOO_LONG),
    ("Groq", 400, "Please reduce the length of the messages or completion.", TOO_LONG),
    ("vLLM", 400, "This model's maximum context length is 4096 tokens.", TOO_LONG),
    ("vLLM", 400, "max_tokens must be at least 1, got -905.", TOO_LONG),
    ("vLLM", 400, "is longer than the maximum model length of 4096", TOO_LONG),
    ("llama.cpp", 400, "the request exceeds the available context size", TOO_LONG),
    ("llama.cpp", 500, '{"type": "exceed_context_size_error"}', TOO_LONG),
    ("Ollama", 400, "input length exceeds the context length", TOO_LONG),
    ("LM Studio", 400, "Trying to keep the first 4567 tokens when context the overflows", TOO_LONG),
    (
        "OpenAI",
        429,
        "Request too large for gpt-4o on tokens per min: Limit 3, Requested 4",
        TOO_LONG,
    ),
    ("SGLang", 400, "Input length 9 exceeds the maximum allowed length 8", TOO_LONG),
    ("LiteLLM", 400, "litellm.ContextWindowExceededError: too big", TOO_LONG),
    ("watsonx", 400, "the number of input tokens 9 cannot exceed the total limit", TOO_LONG),
    ("OpenAI", 400, '{"code": "content_policy_violation"}', FILTERED),
    ("OpenAI", 400, "Your prompt was flagged as violating our usage policy", FILTERED),
    ("Azure", 400, "triggering Azure OpenAI's content management policy", FILTERED),
    ("Azure", 400, '{"code": "content_filter"}', FILTERED),
    ("Anthropic", 400, "Output blocked by content filtering policy", FILTERED),
    ("Gemini", 400, "blockReason: PROHIBITED_CONTENT", FILTERED),
    ("xAI", 403, "Content violates usage guidelines.", FILTERED),
    ("Bedrock", 400, "The request was blocked by a guardrail", FILTERED),
    ("Mistral", 403, "Blocked by content moderation", FILTERED),
    ("Qwen", 400, '{"code": "data_inspection_failed"}', FILTERED),
    ("Zhipu", 400, "系统检测到输入或生成内容可能包含不安全或敏感内容", FILTERED),
    ("DeepSeek", 400, "Content Exists Risk", FILTERED),
    ("OpenRouter", 403, 'Your input was flagged for "violence".', FILTERED),
    ("LiteLLM", 400, "Violated guardrail policy", FILTERED),
    ("Moonshot", 400, "The request was rejected because it was considered high risk", FILTERED),
    ("Ollama", 400, "registry.ollama.ai/library/gemma:2b does not support tools", NO_TOOLS),
    ("OpenRouter", 404, "No endpoints found that support tool use.", NO_TOOLS),
    ("vLLM", 400, '"auto" tool choice requires --enable-auto-tool-choice', NO_TOOLS),
    ("llama.cpp", 500, "tools param requires --jinja flag", NO_TOOLS),
    ("Groq", 400, "`tool calling` is not supported with this model", NO_TOOLS),
    ("DeepSeek", 400, "deepseek-reasoner does not support Function Calling", NO_TOOLS),
    ("llama.cpp", 500, "Conversation roles must alternate user/assistant/user", ROLES),
    ("vLLM", 400, "System role not supported", ROLES),
    ("Perplexity", 400, "After the (optional) system message(s), user and assistant", ROLES),
    ("OpenAI", 403, "Country, region, or territory not supported", REGION),
    ("Gemini", 400, "User location is not supported for the API use.", REGION),
    ("Anthropic", 400, "Your credit balance is too low to access the API.", NO_CREDIT),
    ("DeepSeek", 402, "Insufficient Balance", NO_CREDIT),
    ("OpenAI", 429, '{"code": "insufficient_quota"}', NO_CREDIT),
    ("xAI", 403, "Your team has used all available credits or reached its limit.", NO_CREDIT),
    ("LiteLLM", 400, "Budget has been exceeded! Current cost: 10", NO_CREDIT),
    ("Qwen", 400, '{"code": "Arrearage"}', NO_CREDIT),
    ("Zhipu", 429, "余额不足或无可用资源包,请充值。", NO_CREDIT),
    ("Gemini", 400, "API key not valid. Please pass a valid API key.", NO_KEY),
    ("xAI", 400, "Incorrect API key provided", NO_KEY),
    ("Bedrock", 403, "You don't have access to the model with this ID.", NO_ACCESS),
    ("Azure", 403, "is not authorized to perform this operation", NO_ACCESS),
    ("LiteLLM", 403, "key not allowed to access model", NO_ACCESS),
    ("Groq", 400, '{"code": "tool_use_failed"}', "in a wrong form"),
    ("OpenAI", 400, "Your organization must be verified to stream this model.", "verified"),
    ("OpenAI", 400, "image_url is only supported by certain models", "images"),
]


@pytest.mark.parametrize(
    ("vendor", "status", "message", "sentence"), WORDS, ids=[f"{w[0]} {w[2][:30]}" for w in WORDS]
)
def test_a_refusal_is_understood_in_the_words_of_its_provider(vendor, status, message, sentence):
    error = ERRORS.refusal(status, message, message)
    assert isinstance(error, ProviderRefused)  # it isn't tried again
    assert sentence in error.public


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (429, "Rate limit reached: limit 30000 tokens per min, context length 9000"),
        (503, "overloaded: too many tokens in flight"),
    ],
)
def test_what_may_pass_is_tried_again_whatever_its_words(status, message):
    assert ERRORS.refusal(status, message, "").retryable


def answered(status, body, **headers):
    response = httpx2.Response(
        status, text=body, headers=headers, request=httpx2.Request("POST", "http://a")
    )
    return ERRORS.before_head(openai.APIStatusError("", response=response, body=None))


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "no such model", "code": 404}},
        [{"error": {"message": "no such model"}}],
        {"error": "no such model"},
        {"object": "error", "message": "no such model"},
        {"detail": [{"msg": "no such model", "loc": ["body"]}]},
        {"errors": [{"message": "no such model"}]},
        {"metadata": {"raw": '{"error": {"message": "no such model"}}'}},
        {"base_resp": {"status_code": 1, "status_msg": "no such model"}},
    ],
)
def test_the_providers_own_words_are_found_in_every_form(body):
    assert answered(404, json.dumps(body)).detail == "HTTP 404: no such model"


def test_words_that_the_body_escapes_are_understood():
    assert TOO_LONG in answered(400, json.dumps({"error": {"message": "Prompt 超长"}})).public


def test_words_of_the_vendor_behind_a_router_are_added():
    error = {"message": "Provider returned error", "metadata": {"raw": "The prompt is too long."}}
    found = answered(400, json.dumps({"error": error}))
    assert found.detail == "HTTP 400: Provider returned error: The prompt is too long."
    assert TOO_LONG in found.public


def test_the_meaning_of_an_error_counts_after_the_first_words_too():
    assert FILTERED in ERRORS.in_stream({"code": "content_filter"}, started=True).public


@pytest.mark.parametrize("body", ["Bad gateway", '{"code": 7}', "[" * 400])
def test_a_body_without_a_message_is_kept_whole(body):
    assert answered(502, body).detail == f"HTTP 502: {body}"


@pytest.mark.parametrize(
    ("status", "kind", "sentence"),
    [
        (401, ProviderRefused, "did not accept the key"),
        (403, ProviderRefused, "did not accept the key"),
        (402, ProviderRefused, "is used up"),
        (429, ProviderBusy, "is busy"),
        (404, ProviderRefused, "does not know the model or the address"),
        (413, ProviderRefused, "too long for the model"),
        (422, ProviderRefused, "refused the request (HTTP 422)"),
        (307, ProviderRefused, "sends requests on to another address"),
        (408, ProviderUnavailable, "unavailable (HTTP 408)"),
        (500, ProviderUnavailable, "unavailable (HTTP 500)"),
    ],
)
def test_every_status_has_its_class_and_its_sentence(status, kind, sentence):
    error = answered(status, "boom", **{"Retry-After": "3"})
    assert type(error) is kind
    assert sentence in error.public
    assert error.retry_after == (3 if error.retryable else None)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("", None),
        ("7", 7),
        ("0.5", 0.5),
        ("-3", 0),
        ("soon", None),
        (format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True), 3600),
        ("Mon, 02 Mar 2020 00:00:20 GMT", 0),
    ],
    ids=["none", "whole", "part", "negative", "text", "in an hour", "past"],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(header, seconds):
    assert seconds_to_wait(header) == (seconds and pytest.approx(seconds, abs=600))


CALL = ModelCall(model="small", messages=())
TIMEOUTS = Timeouts(first_token=60, between_tokens=20, total=100)
TICK = TextDelta("tick")


async def timed(provider, *, slow_reader=0.0):
    """Deltas, the error at the end, and the seconds it all took."""
    loop = asyncio.get_running_loop()
    start, seen, error = loop.time(), [], None
    try:
        async with aclosing(stream_model(provider, CALL, timeouts=TIMEOUTS)) as deltas:
            async for delta in deltas:
                seen.append(delta)
                await asyncio.sleep(slow_reader)
    except ProviderTimeout as caught:
        error = caught.public
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    return seen, error, round(loop.time() - start, 3)


class Ticking:
    """Says a word every so many seconds."""

    kind = label = "ticking"

    def __init__(self, *, every: float, words: int, delta: Delta | Alive = TICK) -> None:
        self.delta = delta
        self.every = every
        self.words = words

    async def stream(self, call) -> AsyncGenerator:
        for _ in range(self.words):
            await asyncio.sleep(self.every)
            yield self.delta
        yield Finish("stop")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ([], "The model did not begin to answer within 60 seconds."),
        (["Hi"], "The model said nothing more for 20 seconds, so the answer was ended."),
    ],
)
def test_silence_ends_at_its_deadline(words, error):
    with ScriptedProvider([stalled(*words)]) as provider:
        deltas, told, seconds = run_at_once(timed(provider))
    assert deltas == [TextDelta(word) for word in words]
    assert told.startswith(error)
    assert seconds == (20 if words else 60)


@pytest.mark.parametrize(
    ("provider", "deltas", "error", "seconds"),
    [
        (Ticking(every=15, words=99), 6, "The answer was not finished within 100 seconds", 100),
        (Ticking(every=19, words=5), 6, None, 95),
        (Ticking(every=19, words=5, delta=ALIVE), 1, None, 95),
    ],
    ids=["without end", "in time", "fragments that say nothing yet"],
)
def test_words_in_time_reset_the_deadline_but_not_that_of_the_answer(
    provider, deltas, error, seconds
):
    found, told, took = run_at_once(timed(provider))
    assert (len(found), took) == (deltas, seconds)
    assert told == error if error is None else told.startswith(error)


def test_total_deadline_that_passed_while_the_reader_was_busy_ends_the_next_wait():
    provider = ScriptedProvider([stalled("a")])
    _, error, seconds = run_at_once(timed(provider, slow_reader=150))
    assert (error is not None, seconds) == (True, 150)


def test_cancellation_from_outside_stays_a_cancellation():
    async def cancelled():
        task = asyncio.ensure_future(timed(ScriptedProvider([stalled("a")])))
        await asyncio.sleep(5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_at_once(cancelled())


@pytest.mark.parametrize(
    ("failure", "attempts", "seconds"),
    [
        (broken(ProviderUnavailable("Down.")), 3, 3.0),
        (broken(ProviderRefused("No.")), 1, 0.0),
        (broken(ProviderBusy("Busy.", retry_after=7)), 3, 14.0),
        (broken(ProviderBusy("Busy.", retry_after=60)), 1, 0.0),
        (broken(ProviderUnavailable("Down."), "Half"), 1, 0.0),
    ],
)
def test_retry_twice_with_growing_pauses_if_it_can_help(failure, attempts, seconds, monkeypatch):
    monkeypatch.setattr("random.uniform", lambda shortest, longest: longest)

    async def run():
        provider = ScriptedProvider([failure] * 3)
        with pytest.raises(RunError):
            await timed(provider)
        return len(provider.calls), round(asyncio.get_running_loop().time() - 1000, 3)

    assert run_at_once(run()) == (attempts, seconds)
