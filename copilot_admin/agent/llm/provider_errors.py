"""Errors of model providers: sentences for users, and the original message for operators."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
import re

from aiohttp import ClientResponseError, InvalidURL
import httpx2
import openai

from copilot_admin.agent.fetching.addresses import ForbiddenAddress
from copilot_admin.agent.fetching.tls_faults import tls_fault
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.errors import (
    NotReady,
    ProviderBroke,
    ProviderBusy,
    ProviderRefused,
    ProviderUnavailable,
    RunError,
    iter_causes,
)
from protocol.json import Json, json_of, list_of, object_of, text_of
from protocol.sse import BOM

MAX_DETAIL_CHARACTERS = 500
_OWNER = "The copilot's owner"
WEB_PAGE = (
    "The provider answered with a web page, not with an answer of a model. The copilot's owner "
    "should check the provider's base URL: it often ends in /v1."
)
NOT_UNDERSTOOD = (
    "The model's provider sent something that is not a chat completion, so the answer was ended. "
    "The copilot's owner should check the provider's base URL."
)
NOTHING_CAME = (
    "The model's provider ended its answer before it began: it sent no text, no call of a tool and "
    "no reason. Ask again; if it happens again, the copilot's owner should check the "
    "provider's address and model."
)
BROKE_OFF = (
    "The model's provider broke off before its answer began. Ask again in a moment; if it happens "
    "again, the copilot's owner should check the model server and any proxy before it."
)
_NO_HTTP = (
    "The model's provider sent a response that isn't HTTP. The copilot's owner "
    "should check the provider's base URL and port, and any proxy before the model server."
)
_TOO_LONG = (
    "The conversation with its data is too long for the model. Start a new chat, or select fewer "
    "widgets."
)
_NO_KEY = f"The provider {{provider}} did not accept the key. {_OWNER} must enter a valid one."
_NO_CREDIT = f"The credit at the provider {{provider}} is used up. {_OWNER} must top it up."
_SENTENCES = {
    401: _NO_KEY,
    402: _NO_CREDIT,
    403: _NO_KEY,
    404: "The provider {provider} does not know the model or the address. "
    f"{_OWNER} must correct it.",
    413: _TOO_LONG,
}
_REDIRECTED = (
    "The provider {provider} sends requests on to another address. "
    f"{_OWNER} must enter the final address."
)
_REFUSED = (
    f"The provider {{provider}} refused the request (HTTP {{status}}). {_OWNER} should check "
    "the model and its parameters."
)
# Of models and servers that take no tools.
NO_TOOLS = (
    r"not support tool|support tool use|not support function call|tools param requires"
    r"|enable-auto-tool-choice|tool-call-parser"
    r"|(tool calling|tool use|function calling|tools)[`'\"]? (is|are) not supported"
)
# Statuses that don't concern the request: an identical one may succeed later.
_PASSING = frozenset({408, 409, 425, 429, 502, 503, 504})
# Meanings of a provider's message, whatever its status is. The first match counts; the tests name
# the vendor of each message.
_MEANINGS = {
    r"image_url|image input|supports? images|multimodal|content must be a string": (
        "The model of the provider {provider} did not take the images of this question. "
        f"{_OWNER} should choose one that can see, or switch “Vision” off."
    ),
    r"must be verified to": (
        "The provider {provider} streams this model only to verified organizations. "
        f"{_OWNER} should have the organization verified there, or switch “Streams answers” "
        "of the provider off."
    ),
    r"context_length_exceeded|exceed_context_size|context ?(length|window|size|limit)"
    r"|maximum (context|prompt|model|allowed) length|(prompt|input) (is )?too long"
    r"|too many tokens|(input|prompt) tokens?[\w (),]{0,30} exceed|model token limit"
    r"|range of input length|maximum allowed input length"
    r"|prompt exceeds max length|prompt 超长|reduce the length|tokens to keep from"
    r"|context the overflows|inputs` tokens|must be at least 1, got -": _TOO_LONG,
    r"content_filter|content_policy|content management policy|content filter"
    r"|responsibleaipolicy|usage (policy|guidelines)|data_inspection_failed"
    r"|inappropriate content|input was flagged|不安全或敏感|unsafe or sensitive|content exists risk"
    r"|considered high risk|prohibited_content|(blocked by|violated) .{0,30}guardrail"
    r"|guardrail.{0,30}(blocked|intervened)|content moderation": (
        "The content filter of the provider {provider} rejected the question. Put it in other words."
    ),
    NO_TOOLS: (
        f"The model of the provider {{provider}} can't call tools. {_OWNER} should choose another "
        "model, or set “Tool calling” of the provider to “Prompt-based”."
    ),
    r"tool_use_failed": (  # of Groq, which parses the calls
        "The model of the provider {provider} called a tool in a wrong form. Ask again; if it happens "
        "often, the copilot's owner should choose another model."
    ),
    r"roles must alternate|alternate between|after the \(?optional\)? system message"
    r"|system role not supported|only user(,| and) assistant": (
        f"The model of the provider {{provider}} wants other roles of messages. {_OWNER} should "
        "switch “Merge adjacent messages” of the provider on, or “Has a system role” off."
    ),
    r"unsupported_country|(country|region|location)[\w ,]{0,40} not (supported|available)": (
        f"The provider {{provider}} doesn't serve the region of this server. {_OWNER} should "
        "choose another provider or region."
    ),
    r"insufficient_quota|insufficient (balance|credit|funds)|credit balance is too low"
    r"|billing_hard_limit|all available credits|budget has been exceeded|arrearage"
    r"|余额不足": _NO_CREDIT,
    r"api[_ ]key[\w ]{0,10}(not valid|invalid)|(invalid|incorrect) api[_ ]key": _NO_KEY,
    r"(not|n't) have access|not authorized to|not allowed to (access|sample)"
    r"|access to (the|this) model|model access": (
        f"The key of the provider {{provider}} has no access to the model. {_OWNER} should have "
        "it allowed there, or choose another model."
    ),
}
_STATUS_WORDS = {
    "rate_limit": 429,
    "insufficient_quota": 402,
    "overloaded": 503,
    "server_error": 500,
    "authentication": 401,
    "context_length_exceeded": 413,
}


class ProviderErrors:
    """Errors of one provider, with its name and without its secrets."""

    def __init__(self, spec: ProviderSpec) -> None:
        self._name = spec.name
        values = (value for _, value in spec.options.headers)
        self._secrets = [one for one in (spec.api_key.strip(), *values) if one]

    def before_head(self, error: Exception) -> RunError:
        """Return the error before the head, or the refusal in it."""
        if isinstance(error, openai.APIStatusError):
            text, status = error.response.text, error.response.status_code
            words = _find_message(json_of(text))
            return self.refusal(
                status,
                f"{text} {words}",  # the words may be escaped in the text
                f"HTTP {status}: {words or text}",
                retry_after=seconds_to_wait(error.response.headers.get("Retry-After", "")),
            )
        for cause in iter_causes(error):
            if isinstance(cause, ForbiddenAddress):
                return NotReady(str(cause))
            if isinstance(cause, InvalidURL | httpx2.InvalidURL | UnicodeError):
                return NotReady(
                    f"The address of the provider {self._name!r} is no URL. Correct it."
                )
            if isinstance(cause, ClientResponseError):  # its parser's: no status is raised as one
                return ProviderUnavailable(_NO_HTTP, detail=self._causes_of(cause))
        if isinstance(error, openai.OpenAIError) and not isinstance(error, openai.APIError):
            return NotReady(
                f"The provider {self._name!r} can't be asked. {self.redact(str(error))}"
            )
        if fault := tls_fault(error):
            text = fault.describe(f"the provider {self._name!r}")
            text = f"{text} The copilot's owner should {fault.advice}."
        else:
            text = (
                f"The provider {self._name!r} could not be reached. Ask again in a moment; if it "
                "happens again, the copilot's owner should check that the model server runs."
            )
        return ProviderUnavailable(text, detail=self._causes_of(error))

    def in_stream(self, error: Json, *, started: bool) -> RunError:
        """Return the error of an error object that was sent with HTTP 200."""
        detail = _find_message(error) or str(error)
        message = f"{error} {detail}"
        status = _find_status(error)
        if _find_meaning(message) or (status is not None and not started):
            return self.refusal(status or 400, message, detail)
        return ProviderBroke(
            f"The provider {self._name!r} reported an error while it answered. Ask again.",
            detail=self.redact(detail),
        )

    def amid_answer(self, error: Exception) -> RunError:
        """Return the error of a connection that broke after the head."""
        return ProviderUnavailable(BROKE_OFF, detail=self._causes_of(error))

    def refusal(
        self, status: int, message: str, detail: str, *, retry_after: float | None = None
    ) -> RunError:
        """Return the error for the status of a response, or of the error object in a stream.

        The `message` is only classified, never displayed to users; the `detail` is for operators.
        """
        detail = self.redact(detail)
        if status == 429 and "request too large" in message.lower():  # for any minute, at OpenAI
            status = 413
        meaning = _find_meaning(message)
        if meaning and (status not in _PASSING or meaning is _NO_CREDIT):
            return ProviderRefused(meaning.format(provider=repr(self._name)), detail=detail)
        if status == 429:
            text = f"The provider {self._name!r} is busy. Ask again in a moment."
            return ProviderBusy(text, detail=detail, retry_after=retry_after)
        if status >= 500 or status in _PASSING:
            text = f"The provider {self._name!r} is unavailable (HTTP {status}). "
            text += "Ask again in a moment."
            return ProviderUnavailable(text, detail=detail, retry_after=retry_after)
        sentence = _REDIRECTED if status < 400 else _SENTENCES.get(status, _REFUSED)
        text = sentence.format(provider=repr(self._name), status=status)
        return ProviderRefused(text, detail=detail)

    def _causes_of(self, error: Exception) -> str:
        causes = (f"{type(one).__name__}: {one}" for one in iter_causes(error))
        return self.redact(" <- ".join(causes))

    def redact(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[key]")
        text = text[:MAX_DETAIL_CHARACTERS]
        return "".join(one if one.isprintable() else " " for one in text)


def is_web_page(data: bytes) -> bool:
    return data[:64].lstrip(BOM + b" \t\r\n").startswith(b"<")


def seconds_to_wait(retry_after: str) -> float | None:
    """Return the seconds of a Retry-After header with a number or a date, or None if invalid."""
    with suppress(ValueError):
        return max(float(retry_after), 0.0)
    with suppress(ValueError, TypeError):
        until = parsedate_to_datetime(retry_after)
        return max((until - datetime.now(UTC)).total_seconds(), 0.0)
    return None


def _find_meaning(message: str) -> str | None:
    found = (text for one, text in _MEANINGS.items() if re.search(one, message, re.IGNORECASE))
    return next(found, None)


def _find_message(error: Json) -> str:
    """Return the original message in a provider's error."""
    if isinstance(error, str):
        return error
    if isinstance(error, Mapping):
        keys = ("error", "message", "detail", "msg", "errors", "base_resp", "status_msg")
        words = next(filter(None, (_find_message(error.get(key)) for key in keys)), "")
        # What the vendor behind OpenRouter wrote.
        raw = text_of(object_of(error.get("metadata")).get("raw"))
        return ": ".join(filter(None, (words, _find_message(json_of(raw)) or raw)))
    rows = list_of(error)
    return _find_message(rows[0]) if len(rows) == 1 else ""


def _find_status(error: Json) -> int | None:
    if not isinstance(error, Mapping):
        return None
    for key in ("code", "status", "status_code"):
        if re.fullmatch("[45][0-9]{2}", value := str(error.get(key))):
            return int(value)
    words = " ".join(text_of(error.get(key)) for key in ("type", "code"))
    return next((status for word, status in _STATUS_WORDS.items() if word in words), None)
