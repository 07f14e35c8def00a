"""All errors of the service: `RequestError` before the first byte of an answer, `RunError` after it."""

from collections.abc import Iterator, Mapping
from typing import ClassVar, TypeVar

E = TypeVar("E", bound=BaseException)


class CopilotError(Exception):
    """Base of all errors of the service; anybody may read `public`."""

    public: str

    def __init__(self, public: str) -> None:
        super().__init__(public)
        self.public = public


class RequestError(CopilotError):
    """A request that is answered with an HTTP error.

    API clients get the English text. A page translates `template` and then fills in `params`.
    """

    status: ClassVar[int]
    code: str = "bad-request"

    def __init__(
        self, public: str, *, code: str | None = None, params: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(public % params if params else public)
        self.template, self.params = public, params or {}
        if code is not None:
            self.code = code


class MalformedBody(RequestError):
    status, code = 400, "malformed-body"


class UnknownHost(RequestError):
    status, code = 400, "unknown-host"


class InvalidCall(RequestError):
    status, code = 400, "bad-call"


class Unauthorized(RequestError):
    status, code = 401, "unauthorized"


class InvalidKey(Unauthorized):
    """The key is unknown, expired or revoked."""


class UnknownUser(Unauthorized):
    code = "unknown-user"


class Forbidden(RequestError):
    status, code = 403, "forbidden"


class NotFound(RequestError):
    status, code = 404, "not-found"


class MethodNotAllowed(RequestError):
    status, code = 405, "wrong-method"

    def __init__(self, public: str, *, allowed: str) -> None:
        super().__init__(public)
        self.allowed = allowed


class BodyTimeout(RequestError):
    status, code = 408, "body-timeout"


class Conflict(RequestError):
    status, code = 409, "conflict"


class BodyTooLarge(RequestError):
    status, code = 413, "body-too-large"


class CompressedBody(RequestError):
    status, code = 415, "compressed-body"


class UnusableRequest(RequestError):
    status, code = 422, "unusable-request"  # JSON, but not a query


class HeadersTooLarge(RequestError):
    status, code = 431, "headers-too-large"


class CallFailed(RequestError):
    status, code = 500, "component-failed"


class InternalError(RequestError):
    status, code = 500, "internal-error"


class RetryableError(RequestError):
    """A request that may be sent again after `retry_after` seconds."""

    def __init__(self, public: str, *, code: str | None = None, retry_after: int = 5) -> None:
        super().__init__(public, code=code)
        self.retry_after = retry_after


class TooManyCalls(RetryableError):
    status, code = 429, "too-many-calls"


class TooManyRequests(RetryableError):
    status, code = 429, "limit-reached"


class TooManyFailedAttempts(RetryableError):
    status, code = 429, "too-many-guesses"


class Unavailable(RetryableError):
    status, code = 503, "unavailable"


class RunError(CopilotError):
    """A run that failed: the client sees `public` in the stream, reviewers in the transcript.

    `detail` is for operators and never a secret. `retry_after` is what the provider asked to wait.
    """

    retryable: ClassVar[bool] = False  # the same call may succeed a moment later

    def __init__(self, public: str, *, detail: str = "", retry_after: float | None = None) -> None:
        super().__init__(public)
        self.detail = detail
        self.retry_after = retry_after


class NotReady(RunError):
    """The copilot is published but can't answer as it is configured."""


class ProviderUnavailable(RunError):
    """The provider wasn't reached, or answered 5xx before its first token."""

    retryable = True


class ProviderBusy(RunError):
    retryable = True


class ProviderRefused(RunError):
    """The provider answered 400, 401, 403 or 404: a retry changes nothing."""


class ProviderTimeout(RunError):
    """A deadline of the provider passed."""


class ProviderBroke(RunError):
    """The provider's stream carried an error or could not be parsed."""


class LimitReached(RunError):
    """A limit of the copilot or the server is reached."""


class ComponentError(CopilotError):
    """A component gave no complete result; the caller reads the text."""


class BadArguments(ComponentError):
    """The component rejected its arguments."""


class ManifestMismatch(BadArguments):
    """The arguments don't match the manifest, so the component wasn't called."""


class ComponentFailed(ComponentError):
    """The component crashed, took too long or returned too much."""


class ConfigurationError(CopilotError):
    """A setting, file or command is wrong; the text says what would be right."""


class KeyVariableUnset(ConfigurationError):
    """The variable with a provider's key isn't set in this process; another one may have it."""


def iter_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and its causes, from the outermost to the first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def strip_traceback(error: E) -> E:
    """Drop the frames of an error and its causes, which keep large requests in memory."""
    for cause in list(iter_causes(error)):
        cause.__traceback__ = None
    return error
