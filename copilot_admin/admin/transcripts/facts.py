"""Facts about a conversation as a whole."""

from datetime import timedelta

from django.contrib.auth import get_user_model
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.admin.transcripts.outcomes import present_outcome, series_of
from copilot_admin.models import Conversation, EndpointKey, Logging, Outcome, Run, Turn
from copilot_admin.models.conversations import PLAYGROUND

LIVE_DURATION = timedelta(minutes=30)  # after the last question, in which a next one may come


def load_facts(conversation: Conversation) -> dict[str, object]:
    """Return the facts in the head of a conversation's page; it comes with its copilot."""
    run = (
        Run.objects.filter(conversation=conversation)
        .order_by("-started_at")
        .values("model", "copilot_version__number")
        .first()
    )
    return {
        "series": series_of(conversation),
        "caller": _describe_caller(conversation.principal),  # the API key or the builder
        "outcome": present_outcome(conversation.last_outcome),
        "keeps_content": conversation.copilot.logging == Logging.EVERYTHING,
        "is_recent": is_recent(conversation),  # the page is updated live
        "version": run["copilot_version__number"] if run else None,
        "model": run["model"] if run else "",
    }


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
