"""What it means, in our words, when a provider answers with an HTTP error."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
import re

from copilot_admin.errors import ProviderBusy, ProviderRefused, ProviderUnavailable, RunError

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
