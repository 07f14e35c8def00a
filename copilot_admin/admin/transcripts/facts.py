"""Facts about a conversation as a whole."""

from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth import get_user_model
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.admin.transcripts.outcomes import Presentation, present_outcome, series_of
from copilot_admin.models import Conversation, EndpointKey, Logging, Outcome, Run, Turn
from copilot_admin.models.conversations import PLAYGROUND

LIVE_DURATION = timedelta(minutes=30)  # after the last question, in which a next one may come


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationFacts:
    """Facts in the head of a conversation's page.

    Attributes:
        caller: The API key or the builder that asked.
        keeps_content: The copilot stores what is said.
        is_recent: The page is updated live.
    """

    conversation: Conversation
    caller: str
    outcome: Presentation
    keeps_content: bool
    is_recent: bool
    version: int | None
    model: str

    @property
    def series(self) -> int:
        return series_of(self.conversation)


def load_facts(conversation: Conversation) -> ConversationFacts:
    """Return the facts; the conversation comes with its copilot."""
    run = (
        Run.objects.filter(conversation=conversation)
        .order_by("-started_at")
        .values("model", "copilot_version__number")
        .first()
    )
    return ConversationFacts(
        conversation=conversation,
        caller=_describe_caller(conversation.principal),
        outcome=present_outcome(conversation.last_outcome),
        keeps_content=conversation.copilot.logging == Logging.EVERYTHING,
        is_recent=is_recent(conversation),
        version=run["copilot_version__number"] if run else None,
        model=run["model"] if run else "",
    )


def is_recent(conversation: Conversation) -> bool:
    silence = timezone.now() - conversation.last_at
    return silence < LIVE_DURATION or conversation.last_outcome == Outcome.RUNNING


def latest_turn(conversation: Conversation) -> int | None:
    newest = Turn.objects.filter(conversation=conversation).order_by("-id")
    return newest.values_list("pk", flat=True).first()


def _describe_caller(principal: str) -> str:
    kind, _colon, key_id = principal.partition(":")
    if principal.startswith(PLAYGROUND):
        users = get_user_model().objects.filter(pk=int(key_id)) if key_id.isdecimal() else ()
        names = [user.get_username() for user in users]
        return _("Playground of %(name)s") % {"name": names[0]} if names else _("Playground")
    if kind != "key" or not key_id.isdecimal():
        return _("Anonymous")
    name = EndpointKey.objects.filter(pk=int(key_id)).values_list("name", flat=True).first()
    return _("API key “%(name)s”") % {"name": name} if name else _("Deleted API key")
