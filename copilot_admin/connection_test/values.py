"""Values that the steps of the connection test share."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.copilots.callers import new_trial_pass
from copilot_admin.copilots.drafts import standing_of
from copilot_admin.copilots.live_settings import keys_of
from copilot_admin.copilots.standing import CopilotState
from copilot_admin.errors import CopilotError
from copilot_admin.http.origins import ALLOWED_ORIGINS
from copilot_admin.models import Access, Copilot, Run
from copilot_admin.models.conversations import PLAYGROUND


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


NETWORK = (
    "Could not reach the agent server. Check the URL, ensure the server is running, and allow CORS "
    "from this app origin."
)
CORS = "The agent server blocked the request (CORS). Allow this app origin and try again."
NO_JSON = "Invalid response from the agent server. Expected valid JSON in /agents.json."
SCHEMA = "Invalid agents schema from the server. Please validate your /agents.json format."
CONFLICT = "Agent ID and name conflict … already exist"
_STATUS = {
    401: "Unauthorized access to the copilot URL.",
    404: "A valid /agents.json was not found.",
    500: "Internal server error.",
}
_OTHER_STATUS = "Unknown error occurred while validating URL."


def of_status(status: int) -> str:
    """What is said of an HTTP status that is not good."""
    return _STATUS.get(status, _OTHER_STATUS)


async def live(setup: Setup, ask: Ask) -> StepResult:
    """Whether the copilot is published, on and able to answer."""
    if setup.problem:
        return StepResult(
            verdict=StepVerdict.BAD,
            sentence=_("Nobody gets this copilot now. %(why)s") % {"why": setup.problem},
            mend=_("Publish it, switch it on, or mend what its page names. Then test again."),
        )
    return good(_("It is published and switched on."))


async def key(setup: Setup, ask: Ask) -> StepResult:
    """Whether there is a key that opens it, if it wants one."""
    if not setup.needs_key:
        return good(_("It answers everybody: no key is needed."))
    if not setup.keys:
        return StepResult(
            verdict=StepVerdict.BAD,
            sentence=_("It wants a key, and there is none that opens it."),
            mend=_("Make a key above, or ask an operator for one."),
        )
    text = ngettext(
        "It wants a key; one valid key opens it.",
        "It wants a key; %(count)d valid keys open it.",
        setup.keys,
    )
    return good(
        text % {"count": setup.keys},
        _("The steps below use a pass of their own: enter a key in Workspace to test that one."),
    )


_GOT = (CopilotState.PUBLISHED, CopilotState.CHANGED)


def setup_of(copilot: Copilot, *, base: str, user_id: int, extra_origin: str = "") -> Setup:
    """The facts of a copilot; reads the database.

    Args:
        copilot: With what is live of it.
        base: Address under which people reach the server.
        user_id: Of whoever tests; his questions are journaled as trials.
        extra_origin: Of a page that the test is to look at besides those that are allowed.
    """
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
        kept=sync_to_async(_kept),
    )


def problem_of(copilot: Copilot) -> str:
    """Why nobody gets a copilot, in a sentence; "" when it is live."""
    standing = standing_of(copilot)
    return "" if standing.state in _GOT else standing.sentence


def _kept(completion_id: str) -> KeptQuestion | None:
    try:
        key = UUID(completion_id)
    except ValueError:
        return None
    run = Run.objects.filter(pk=key, principal__startswith=PLAYGROUND).first()
    if run is None:
        return None
    return KeptQuestion(outcome=run.outcome, error=run.error, generation=run.generation)
