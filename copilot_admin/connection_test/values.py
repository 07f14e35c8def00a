"""Values shared by the steps of the connection test."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings

from copilot_admin.copilots.callers import new_trial_pass
from copilot_admin.copilots.live_settings import keys_of
from copilot_admin.copilots.status import CopilotState, status_of
from copilot_admin.errors import CopilotError
from copilot_admin.http.middleware import ALLOWED_ORIGINS
from copilot_admin.models import Access, Copilot, Run
from copilot_admin.models.conversations import PLAYGROUND

NETWORK = (
    "Could not reach the agent server. Check the URL, ensure the server is running, and allow CORS "
    "from this app origin."
)
CORS = "The agent server blocked the request (CORS). Allow this app origin and try again."
NO_JSON = "Invalid response from the agent server. Expected valid JSON in /agents.json."
SCHEMA = "Invalid agents schema from the server. Please validate your /agents.json format."
CONFLICT = "Agent ID and name conflict … already exist"
STATUS = {
    401: "Unauthorized access to the copilot URL.",
    404: "A valid /agents.json was not found.",
    500: "Internal server error.",
}
OTHER_STATUS = "Unknown error occurred while validating URL."
AVAILABLE = (CopilotState.PUBLISHED, CopilotState.CHANGED)


class StepVerdict(StrEnum):
    GOOD = "good"
    WARN = "warn"  # it works, but not for everyone or not well
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """Result of a step; details have untrusted texts of servers, files and models."""

    verdict: StepVerdict
    sentence: str
    workspace: str = ""  # error message of Workspace
    fix: str = ""  # instruction for the user
    details: tuple[str, ...] = ()


def good(sentence: str, *details: str) -> StepResult:
    """Return a result without a problem."""
    return StepResult(verdict=StepVerdict.GOOD, sentence=sentence, details=details)


def warning(sentence: str, *, fix: str, details: tuple[str, ...] = ()) -> StepResult:
    """Return a result of what works, but not for everyone or not well."""
    return StepResult(verdict=StepVerdict.WARN, sentence=sentence, fix=fix, details=details)


class StepFailed(Exception):
    """A problem that ends a step; the arguments are those of `StepResult`."""

    def __init__(
        self, sentence: str, *, fix: str, workspace: str = "", details: tuple[str, ...] = ()
    ) -> None:
        super().__init__(sentence)
        self.result = StepResult(
            verdict=StepVerdict.BAD,
            sentence=sentence,
            workspace=workspace,
            fix=fix,
            details=tuple(filter(None, details)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)  # by lower-case names
    body: bytes = b""
    first_ms: int | None = None  # time to the first byte of the body; None without a body
    ms: int = 0  # time to the last byte

    @property
    def kind(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class Unreached(CopilotError):
    """There is no response; the text gives the reason."""


# Sends a request to the server itself: method, URL and the options of `ConnectionAsker`.
Ask: TypeAlias = Callable[..., Awaitable[Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    base: str  # public URL of the server, without a trailing slash
    slug: str
    problem: str  # why the copilot isn't available; "" if it is
    needs_key: bool
    keys: int  # number of valid API keys for it
    key: str  # a temporary pass, sent instead of an API key
    origins: tuple[str, ...]  # that are allowed
    extra_origin: str  # one more origin to test; ""
    headers: tuple[str, ...]  # further request headers that clients may send
    load_run: Callable[[str], Awaitable[Run | None]]  # by its completion id


ConnectionStep: TypeAlias = Callable[[Setup, Ask], Awaitable[StepResult]]


def setup_of(copilot: Copilot, *, base: str, user_id: int, extra_origin: str = "") -> Setup:
    """Load the facts of a copilot; the runs of the tester are stored as those of the playground."""
    return Setup(
        base=base,
        slug=copilot.slug,
        problem=problem_of(copilot),
        needs_key=copilot.access == Access.KEY,
        keys=keys_of(copilot),
        key=new_trial_pass(user_id=user_id, copilot_id=copilot.pk),
        origins=(*ALLOWED_ORIGINS.given, *ALLOWED_ORIGINS.load_added()),
        extra_origin=extra_origin,
        headers=tuple(settings.CORS_HEADERS),
        load_run=sync_to_async(_load_run),
    )


def problem_of(copilot: Copilot) -> str:
    """Return why a copilot isn't available; "" if it is."""
    status = status_of(copilot)
    return "" if status.state in AVAILABLE else status.sentence


def _load_run(completion_id: str) -> Run | None:
    try:
        key = UUID(completion_id)
    except ValueError:
        return None
    return Run.objects.filter(pk=key, principal__startswith=PLAYGROUND).first()
