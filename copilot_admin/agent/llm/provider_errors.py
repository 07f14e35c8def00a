"""Errors of model providers, translated into sentences for people."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
import re

from aiohttp import ClientResponseError, InvalidURL
import openai

from copilot_admin.agent.fetching.addresses import ForbiddenAddress
from copilot_admin.agent.fetching.connecting import tls_fault
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
from protocol.json import Json

BOM = b"\xef\xbb\xbf"
_WEB_PAGE = (
    "The provider answered with a web page, not with an answer of a model. Whoever manages this "
    "copilot should check the provider's address: it often ends in /v1."
)
_NOT_UNDERSTOOD = (
    "The model's provider sent something that is no chat completion, so the answer was ended. "
    "Whoever manages this copilot should check the provider's address."
)
_NOTHING = (
    "The model's provider ended its answer before it began: it sent no text, no call of a tool and "
    "no reason. Ask again; if it stays so, whoever manages this copilot should check the "
    "provider's address and model."
)
_BROKE_OFF = (
    "The model's provider broke off before its answer began. Ask again in a moment; if it stays so, "
    "whoever manages this copilot should look whether the model server, or what lies before it, fails."
)
_NO_HTTP = (
    "The model's provider answered with something that cannot be read as HTTP. Whoever manages this "
    "copilot should check the provider's address and port, and what lies before the model server."
)


def is_web_page(data: bytes) -> bool:
    return data[:64].removeprefix(BOM).lstrip().startswith(b"<")


def names_web_page(content_type: str) -> bool:
    """Whether a Content-Type header announces a web page."""
    return content_type.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml")


def web_page() -> ProviderBroke:
    """The error of an address behind which there is a web site."""
    return ProviderBroke(_WEB_PAGE)


def not_understood(data: bytes) -> ProviderBroke:
    """The error of data that is no chunk of a chat completion."""
    return web_page() if is_web_page(data) else ProviderBroke(_NOT_UNDERSTOOD)


def nothing_came() -> ProviderBroke:
    """The error of a stream that ended with neither text nor calls nor a reason."""
    return ProviderBroke(_NOTHING)


def no_http(detail: str) -> ProviderUnavailable:
    """The error of an answer whose head breaks the rules of HTTP, or is none.

    Asking again may help: it can be the rest of an earlier answer of the same connection.
    """
    return ProviderUnavailable(_NO_HTTP, detail=detail)


def broke_off(detail: str = "") -> ProviderUnavailable:
    """The error of a stream that ended behind its head, or amid its first event: the address is right."""
    return ProviderUnavailable(_BROKE_OFF, detail=detail)


_OWNER = "Whoever manages this copilot"
_ABOUT_THE_REQUEST = frozenset({400, 404, 415, 422, 500, 501})
_TOO_LONG = re.compile(
    r"context_length_exceeded|context (length|window|size)|maximum context|too many tokens",
    re.IGNORECASE,
)
# In the words of OpenAI, OpenRouter, llama.cpp and vLLM; the last but one says so with HTTP 500.
_NO_IMAGES = re.compile(
    r"image_url|image input|supports? images|multimodal|content must be a string", re.IGNORECASE
)


def refusal(
    status: int,
    message: str,
    *,
    provider: str,
    detail: str,
    retry_after: float | None = None,
) -> RunError:
    """The error for a status.

    Args:
        status: Of the HTTP response, or of the error object in a stream.
        message: What the provider wrote; read for its meaning, never shown to strangers.
        provider: The provider's name here.
        detail: What an operator may read; holds no secret.
        retry_after: Seconds the provider asked to wait.
    """
    if status in _ABOUT_THE_REQUEST and _NO_IMAGES.search(message):
        return ProviderRefused(
            f"The model of the provider {provider!r} did not take the images of this question. "
            f"{_OWNER} should choose one that can see, or switch “Look at images” off.",
            detail=detail,
        )
    if status == 429 and "insufficient_quota" not in message:
        return ProviderBusy(
            f"The provider {provider!r} is busy. Ask again in a moment.",
            detail=detail,
            retry_after=retry_after,
        )
    if status >= 500 or status in (408, 409, 425):
        return ProviderUnavailable(
            f"The provider {provider!r} has a problem of its own (HTTP {status}). Ask again in a "
            "moment.",
            detail=detail,
            retry_after=retry_after,
        )
    return ProviderRefused(_reason(status, message, provider), detail=detail)


def _reason(status: int, message: str, provider: str) -> str:
    if status in (401, 403):
        return f"The provider {provider!r} did not accept the key. {_OWNER} must enter a valid one."
    if status in (402, 429):
        return f"The credit at the provider {provider!r} is used up. {_OWNER} must top it up."
    if status == 404:
        return (
            f"The provider {provider!r} does not know the model or the address. {_OWNER} must "
            "correct it."
        )
    if status == 413 or _TOO_LONG.search(message):
        return (
            "The conversation with its data is too long for the model. Start a new chat, or "
            "select fewer widgets."
        )
    if status < 400:
        return (
            f"The provider {provider!r} sends requests on to another address. {_OWNER} must enter "
            "the final address."
        )
    return (
        f"The provider {provider!r} refused the request (HTTP {status}). {_OWNER} should check the "
        "model and its parameters."
    )


def seconds_to_wait(retry_after: str | None, *, now: datetime) -> float | None:
    """Reads a Retry-After header, which holds seconds or a date; None if it holds neither."""
    if not retry_after:
        return None
    try:
        return max(float(retry_after), 0.0)
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):  # the second for years and hours of twenty digits
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max((until - now).total_seconds(), 0.0)


_DETAIL_CHARACTERS = 500
_STATUS_NUMBERS = frozenset(map(str, range(400, 600)))
_STATUS_WORDS = {
    "rate_limit": 429,
    "insufficient_quota": 402,
    "overloaded": 503,
    "server_error": 500,
    "authentication": 401,
    "context_length_exceeded": 413,
}


class ProviderFaults:
    """Names the provider, and keeps its key out of what an operator may read."""

    __slots__ = ("_key", "_name")

    def __init__(self, spec: ProviderSpec) -> None:
        self._name = spec.name
        self._key = spec.api_key.strip()

    def before_head(self, error: Exception) -> RunError:
        """Return what went wrong before the head, or the refusal in it."""
        if isinstance(error, openai.APIStatusError):
            return self.refused(error)
        for cause in iter_causes(error):
            if isinstance(cause, ForbiddenAddress):
                return NotReady(str(cause))
            if isinstance(cause, InvalidURL | UnicodeError):
                return self.no_url()
            if isinstance(cause, ClientResponseError):  # its parser's: no status is raised as one
                return no_http(self._causes_of(cause))
        if isinstance(error, openai.OpenAIError) and not isinstance(error, openai.APIError):
            return NotReady(
                f"The provider {self._name!r} can't be asked. {self._detail(str(error))}"
            )
        if fault := tls_fault(error):
            said = fault.said(f"the provider {self._name!r}")
            return ProviderUnavailable(
                f"{said} Whoever manages this copilot should {fault.mend()}.",
                detail=self._causes_of(error),
            )
        return ProviderUnavailable(
            f"The provider {self._name!r} could not be reached. Ask again in a moment; if it stays "
            "so, whoever manages this copilot should check that the model server runs.",
            detail=self._causes_of(error),
        )

    def no_url(self) -> NotReady:
        """Return the error of a base URL that is none."""
        return NotReady(f"The address of the provider {self._name!r} is no URL. Correct it.")

    def refused(self, error: openai.APIStatusError) -> RunError:
        """Return what a status other than success means."""
        said = error.response.text
        wait = error.response.headers.get("Retry-After")
        return refusal(
            error.response.status_code,
            said,
            provider=self._name,
            detail=self._detail(said),
            retry_after=seconds_to_wait(wait, now=datetime.now(UTC)),
        )

    def in_stream(self, error: Json, *, started: bool) -> RunError:
        """An error object that came with HTTP 200."""
        said = _in_words(error)
        detail = self._detail(said)
        status = _status(error)
        if not started and status is not None:
            return refusal(status, said, provider=self._name, detail=detail)
        return ProviderBroke(
            f"The provider {self._name!r} reported an error while it answered. Ask again.",
            detail=detail,
        )

    def amid_answer(self, error: Exception) -> RunError:
        """A connection that broke after the head."""
        return broke_off(self._causes_of(error))

    def _causes_of(self, error: Exception) -> str:
        causes = (f"{type(one).__name__}: {one}" for one in iter_causes(error))
        return self._detail(" <- ".join(causes))

    def _detail(self, text: str) -> str:
        text = text.replace(self._key, "[key]") if self._key else text
        return text[:_DETAIL_CHARACTERS]


def _in_words(error: Json) -> str:
    try:
        return str(error)
    except RecursionError:
        return "an error that is nested too deep to be written down"


def _status(error: Json) -> int | None:
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
