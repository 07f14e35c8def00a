"""Everything that can go wrong, as one small tree.

CopilotError                        has `public`: what a stranger may read, and what to do
├── RequestError                    before the first byte: an HTTP status
│   ├── MalformedBody               400
│   ├── UnknownHost                 400
│   ├── BadCall                     400  a component cannot be called like this
│   ├── Unauthorized                401
│   │   ├── WrongKey                a key came, and it is none
│   │   └── UnknownUser             nobody who is believed says which user asks
│   ├── Forbidden                   403
│   ├── NotFound                    404
│   ├── WrongMethod                 405
│   ├── BodyTimeout                 408
│   ├── Conflict                    409  somebody else came first
│   ├── BodyTooLarge                413
│   ├── CompressedBody              415
│   ├── UnusableRequest             422
│   ├── HeadersTooLarge             431
│   ├── CallFailed                  500  a component gave nothing
│   ├── Broken                      500  a fault of ours
│   └── Later                       it may be sent again, and `Retry-After` says when
│       ├── TooManyCalls            429
│       ├── TooManyRequests         429  a limit that operators set
│       ├── TooManyGuesses          429
│       └── Unavailable             503
├── RunError                        after it: an event that the client shows
│   ├── NotReady                    the copilot cannot answer as it is configured
│   ├── ProviderUnavailable         not reached, or answered 5xx      (may be retried)
│   ├── ProviderBusy                429                               (may be retried)
│   ├── ProviderRefused             401, 403, 404, 400: trying again changes nothing
│   ├── ProviderTimeout             a deadline passed
│   ├── ProviderBroke               the stream carried an error or was not understood
│   └── LimitReached                a limit of the copilot or the server
├── ComponentError                  a component that was called gave no whole result
│   ├── BadArguments                the caller's arguments are not what it takes
│   │   └── WrongArguments          they break the manifest, so it was not asked
│   └── ComponentFailed             it broke down, took too long or gave too much
├── ClientTooSlow                   the client stopped reading
└── ConfigurationError              a bad setting, file or command: for operators and builders
    └── KeyVariableUnset            the variable with a provider's key is not set in this process
"""

from collections.abc import Iterator, Mapping
from typing import ClassVar, TypeVar

E = TypeVar("E", bound=BaseException)


def without_frames(error: E) -> E:
    """The error, with those that led to it, and none of the frames that they passed.

    A frame keeps all that it had at hand, such as a question of 20 MB; an error that something of
    that knows is a circle with it, which waits for a full pass of the collector. Call it where an
    error has been told and goes no further up.
    """
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            one.__traceback__ = None
            pending += (one.__cause__, one.__context__)
    return error


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """The error, and those that led to it, one behind the other."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


class CopilotError(Exception):
    """An error of ours; `public` is its text for whoever caused it."""

    public: str

    def __init__(self, public: str) -> None:
        super().__init__(public)
        self.public = public


class RequestError(CopilotError):
    """A request that cannot be answered with a stream.

    Programs read its text in English; a page may say it in the language of its reader.

    Attributes:
        sentence: The text before its placeholders are filled, such as `%(most)d`.
        about: What stands in them; nothing where there are none.
    """

    status: ClassVar[int]
    code: str = "bad-request"

    def __init__(
        self, public: str, *, code: str | None = None, about: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(public % about if about else public)
        self.sentence, self.about = public, about or {}
        if code is not None:
            self.code = code


class MalformedBody(RequestError):
    """The body is not strict JSON."""

    status = 400
    code = "malformed-body"


class UnknownHost(RequestError):
    """The request is for another host."""

    status = 400
    code = "unknown-host"


class BadCall(RequestError):
    """A call of a component that names an unknown action, or arguments that it does not take."""

    status = 400
    code = "bad-call"


class Unauthorized(RequestError):
    """No key, or one that does not work."""

    status = 401
    code = "unauthorized"


class WrongKey(Unauthorized):
    """A key came that is unknown, expired or revoked."""


class UnknownUser(Unauthorized):
    """A token is forged, old or for somebody else; or none came where a user has to be known."""

    code = "unknown-user"


class Forbidden(RequestError):
    """A good key that may not do this."""

    status = 403
    code = "forbidden"


class NotFound(RequestError):
    """Nothing published has this address."""

    status = 404
    code = "not-found"


class Conflict(RequestError):
    """Somebody else came first; who sends it again is told what is there."""

    status = 409
    code = "conflict"


class WrongMethod(RequestError):
    """The address exists, but not for this method; `allowed` are those it takes."""

    status = 405
    code = "wrong-method"

    def __init__(self, public: str, *, allowed: str) -> None:
        super().__init__(public)
        self.allowed = allowed


class BodyTimeout(RequestError):
    """The body did not arrive in time."""

    status = 408
    code = "body-timeout"


class BodyTooLarge(RequestError):
    """The body is over the limit."""

    status = 413
    code = "body-too-large"


class CompressedBody(RequestError):
    """The body is compressed, and nothing is unpacked here."""

    status = 415
    code = "compressed-body"


class UnusableRequest(RequestError):
    """JSON, but not a query."""

    status = 422
    code = "unusable-request"


class HeadersTooLarge(RequestError):
    """The headers, or the address, are over the limit."""

    status = 431
    code = "headers-too-large"


class CallFailed(RequestError):
    """A component broke down before it gave anything."""

    status = 500
    code = "component-failed"


class Broken(RequestError):
    """The server broke over a request."""

    status = 500
    code = "internal-error"


class Later(RequestError):
    """The request may be sent again; `retry_after` is in seconds."""

    def __init__(self, public: str, *, code: str | None = None, retry_after: int = 5) -> None:
        super().__init__(public, code=code)
        self.retry_after = retry_after


class TooManyCalls(Later):
    """The caller, or all callers together, have as many calls running as are served at once."""

    status = 429
    code = "too-many-calls"


class TooManyRequests(Later):
    """A rate, a budget, or a limit of what goes on at once is reached."""

    status = 429
    code = "limit-reached"


class TooManyGuesses(Later):
    """Too many wrong keys came from one address."""

    status = 429
    code = "too-many-guesses"


class Unavailable(Later):
    """The server cannot take the request now."""

    status = 503
    code = "unavailable"


class RunError(CopilotError):
    """A run that failed; the client is told in the stream, the reviewer in the transcript.

    Attributes:
        detail: What an operator may read besides `public`; never a secret.
        retryable: Whether the same call may succeed a moment later.
        retry_after: Seconds the other side asked to wait, if it did.
    """

    retryable: ClassVar[bool] = False

    def __init__(self, public: str, *, detail: str = "", retry_after: float | None = None) -> None:
        super().__init__(public)
        self.detail = detail
        self.retry_after = retry_after


class NotReady(RunError):
    """The copilot is published but cannot answer as it is configured."""


class ProviderUnavailable(RunError):
    """The provider was not reached, or broke down before its first token."""

    retryable = True


class ProviderBusy(RunError):
    """The provider asked for patience (429)."""

    retryable = True


class ProviderRefused(RunError):
    """The provider said no; trying again changes nothing."""


class ProviderTimeout(RunError):
    """The provider was silent for longer than a deadline allows."""


class ProviderBroke(RunError):
    """The provider's stream carried an error or could not be understood."""


class LimitReached(RunError):
    """A limit of the copilot or the server was reached."""


class ComponentError(CopilotError):
    """A component that was called gave no whole result; the text is for whoever called it."""


class BadArguments(ComponentError):
    """The arguments are not what the component takes; it says so itself."""


class WrongArguments(BadArguments):
    """The arguments break the manifest, so the component was not even asked."""


class ComponentFailed(ComponentError):
    """The component broke down, took too long or gave too much."""


class ClientTooSlow(CopilotError):
    """The client read nothing for so long that its stream was given up."""


class ConfigurationError(CopilotError):
    """A setting, file or command is wrong; the text says which and what would be right."""


class KeyVariableUnset(ConfigurationError):
    """The variable with a provider's key is not set in this process; another one may have it."""
