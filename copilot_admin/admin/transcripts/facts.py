"""What is said about a conversation as a whole."""

from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth import get_user_model
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.admin.transcripts.words import ShownWords, outcome_words
from copilot_admin.models import Conversation, EndpointKey, Logging, Outcome, Turn, TurnState
from copilot_admin.models.conversations import PLAYGROUND

# A page tells news for as long as its reader may expect a next question.
NEWS_FOR = timedelta(minutes=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationFacts:
    """The head of a conversation's page.

    Attributes:
        caller: The key that asked, by name; or that nobody said who asked.
        keeps_content: Whether its copilot's conversations are kept as a whole now.
        is_recent: News may come.
    """

    conversation: Conversation
    caller: str
    outcome: ShownWords
    keeps_content: bool
    is_recent: bool


def facts_of(conversation: Conversation) -> ConversationFacts:
    """Reads what the head needs; the conversation comes with its copilot."""
    return ConversationFacts(
        conversation=conversation,
        caller=_caller(conversation.principal),
        outcome=outcome_words(conversation.last_outcome),
        keeps_content=conversation.copilot.logging == Logging.EVERYTHING,
        is_recent=is_recent(conversation),
    )


def is_recent(conversation: Conversation) -> bool:
    silence = timezone.now() - conversation.last_at
    return silence < NEWS_FOR or conversation.last_outcome == Outcome.RUNNING


def live_turns(conversation: Conversation) -> list[int]:
    """The turns that are being answered, or wait for the client."""
    waiting = Turn.objects.filter(
        conversation=conversation, state__in=(TurnState.OPEN, TurnState.AWAITING_RESULT)
    )
    running = Turn.objects.filter(conversation=conversation, runs__outcome=Outcome.RUNNING)
    return sorted({row.pk for rows in (waiting, running) for row in rows.only("pk")})


def latest_turn(conversation: Conversation) -> int | None:
    """The turn that was asked last."""
    newest = Turn.objects.filter(conversation=conversation).order_by("-id")
    return newest.values_list("pk", flat=True).first()


def _caller(principal: str) -> str:
    kind, _colon, key_id = principal.partition(":")
    if principal.startswith(PLAYGROUND):
        return _builder(key_id)
    if kind != "key" or not key_id.isdecimal():
        return _("Anonymous")
    name = EndpointKey.objects.filter(pk=int(key_id)).values_list("name", flat=True).first()
    return _("Key “%(name)s”") % {"name": name} if name else _("A key that is gone")


def _builder(user_id: str) -> str:
    users = get_user_model().objects.filter(pk=int(user_id)) if user_id.isdecimal() else ()
    names = [user.get_username() for user in users]
    return _("Playground of %(name)s") % {"name": names[0]} if names else _("Playground")
