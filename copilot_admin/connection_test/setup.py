"""What a test knows before it asks anything, out of settings and database."""

from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings

from copilot_admin.connection_test.values import KeptQuestion, Setup
from copilot_admin.copilots.at_once import keys_of
from copilot_admin.copilots.callers import new_trial_pass
from copilot_admin.copilots.drafts import standing_of
from copilot_admin.copilots.standing import CopilotState
from copilot_admin.http.origins import ALLOWED_ORIGINS
from copilot_admin.models import Access, Copilot, Run
from copilot_admin.models.conversations import PLAYGROUND

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
