"""What went wrong with a provider, in our errors: before its answer, in its stream, or amid it."""

from datetime import UTC, datetime

from aiohttp import ClientError, ClientResponse, ClientResponseError, InvalidURL

from copilot_admin.agent.fetching.addresses import ForbiddenAddress
from copilot_admin.agent.fetching.tls_faults import tls_fault
from copilot_admin.agent.llm.foreign_answers import broke_off, no_http
from copilot_admin.agent.llm.http_refusals import refusal, seconds_to_wait
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.errors import (
    NotReady,
    ProviderBroke,
    ProviderUnavailable,
    RunError,
    iter_causes,
)
from protocol.json import Json

# Of a host name that no resolver is asked for, since a part of it is empty or too long.
_NO_HOST = UnicodeError
CONNECTION_ERRORS = (ClientError, OSError, _NO_HOST)
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
        """What went wrong before the head."""
        for cause in iter_causes(error):
            if isinstance(cause, ForbiddenAddress):
                return NotReady(str(cause))
            if isinstance(cause, InvalidURL | _NO_HOST):
                return NotReady(
                    f"The address of the provider {self._name!r} is no URL. Correct it."
                )
            if isinstance(cause, ClientResponseError):  # its parser's: no status is raised as one
                return no_http(self._causes_of(cause))
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

    def refused(self, response: ClientResponse, said: str) -> RunError:
        """What a status other than success means."""
        return refusal(
            response.status,
            said,
            provider=self._name,
            detail=self._detail(said),
            retry_after=seconds_to_wait(response.headers.get("Retry-After"), now=datetime.now(UTC)),
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
