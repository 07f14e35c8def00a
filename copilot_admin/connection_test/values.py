"""What the steps of a test speak in: what is known before, an answer of the server, a result."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

from copilot_admin.errors import CopilotError


class StepVerdict(StrEnum):
    """How a step of the test ended."""

    GOOD = "good"
    WARN = "warn"  # it works, but not for everybody or not as well as it could
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """How a step ended, in words.

    Attributes:
        workspace: What Workspace itself would say, word for word; "" where that is not known.
        mend: What to do about it.
        details: What was seen: texts of servers, files and models among them.
    """

    verdict: StepVerdict
    sentence: str
    workspace: str = ""
    mend: str = ""
    details: tuple[str, ...] = ()


def good(sentence: str, *details: str) -> StepResult:
    """A result without a fault."""
    return StepResult(verdict=StepVerdict.GOOD, sentence=sentence, details=details)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server answered.

    Attributes:
        headers: By their names in lower case.
        first_ms: Until the first byte of the body; None when it has none.
        ms: Until the last.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    first_ms: int | None = None
    ms: int = 0

    @property
    def kind(self) -> str:
        """The content type without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class Unreached(CopilotError):
    """A server gave no answer; the text says why."""


class Ask(Protocol):
    """Asks the server; an address of any other is refused."""

    async def __call__(
        self,
        method: str,
        address: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        seconds: float = 10.0,
    ) -> Answer:
        """Sends one request, and follows no redirect.

        Raises:
            Unreached: There is no answer.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptQuestion:
    """What the journal has of a question: how it ended, and the generation it was read in."""

    outcome: str
    error: str
    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What is known of the copilot and the server before anything is asked.

    Attributes:
        base: Address of the server as people reach it, without a slash at the end.
        problem: Why nobody gets the copilot; "" when it is live.
        keys: Valid endpoint keys that open it.
        key: A trial pass, sent where a client sends its endpoint key.
        origins: The pages that the server lets call it.
        extra_origin: One more that somebody asked about; "".
        headers: Names of request headers that clients may send besides the usual ones.
        kept: Looks a question up by its completion id.
    """

    base: str
    slug: str
    problem: str
    needs_key: bool
    keys: int
    key: str
    origins: tuple[str, ...]
    extra_origin: str
    headers: tuple[str, ...]
    kept: "Callable[[str], Awaitable[KeptQuestion | None]]"


ConnectionStep: TypeAlias = Callable[[Setup, Ask], Awaitable[StepResult]]
