"""Facts about a conversation as a whole, and the presentation of outcomes."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from django.contrib.auth import get_user_model
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.models import Conversation, EndpointKey, Logging, Outcome, Run, Turn
from copilot_admin.models.conversations import PLAYGROUND

LIVE_DURATION = timedelta(minutes=30)  # after the last question, in which a next one may come


class Presentation(NamedTuple):
    """Presentation of an outcome; `tone` is good, warn, bad, info or muted."""

    label: str | Promise
    tone: str
    icon: str
    sentence: str | Promise = ""


OUTCOMES: Mapping[str, Presentation] = {
    Outcome.RUNNING: Presentation(
        gettext_lazy("Running"), "info", "refresh", gettext_lazy("The answer is being written.")
    ),
    Outcome.COMPLETED: Presentation(gettext_lazy("Answered"), "good", "ok"),
    Outcome.TRUNCATED: Presentation(
        gettext_lazy("Truncated"), "warn", "alert", gettext_lazy("The answer was cut off.")
    ),
    Outcome.FAILED: Presentation(
        gettext_lazy("Failed"), "bad", "fail", gettext_lazy("The copilot could not answer.")
    ),
    Outcome.CRASHED: Presentation(
        gettext_lazy("Crashed"), "bad", "fail", gettext_lazy("Internal error. See the server log.")
    ),
    Outcome.CANCELLED: Presentation(
        gettext_lazy("Cancelled"),
        "muted",
        "stop",
        gettext_lazy("The client disconnected before the end."),
    ),
    Outcome.INTERRUPTED: Presentation(
        gettext_lazy("Interrupted"),
        "warn",
        "alert",
        gettext_lazy("The server stopped during the answer."),
    ),
    Outcome.REFUSED: Presentation(
        gettext_lazy("Rejected"), "warn", "stop", gettext_lazy("A limit was reached.")
    ),
}


def present_outcome(outcome: str) -> Presentation:
    """Return the presentation of an outcome; an unknown one is shown as it is."""
    return OUTCOMES.get(outcome, Presentation(outcome, "muted", "stop"))


def series_of(conversation: Conversation) -> int:
    """Return the number of the colour of a conversation's copilot."""
    return conversation.copilot_id % 6 + 1


def load_facts(conversation: Conversation) -> dict[str, object]:
    """Return the facts in the head of a conversation's page; it comes with its copilot."""
    runs = Run.objects.filter(conversation=conversation).order_by("-started_at")
    run: Mapping[str, Any] = runs.values("model", "copilot_version__number").first() or {}
    is_recent = timezone.now() - conversation.last_at < LIVE_DURATION
    return {
        "series": series_of(conversation),
        "caller": _describe_caller(conversation.principal),  # the API key or the builder
        "outcome": present_outcome(conversation.last_outcome),
        "keeps_content": conversation.copilot.logging == Logging.EVERYTHING,
        # The page is updated live.
        "is_recent": is_recent or conversation.last_outcome == Outcome.RUNNING,
        "version": run.get("copilot_version__number"),
        "model": run.get("model", ""),
    }


def latest_turn(conversation: Conversation) -> int | None:
    newest = Turn.objects.filter(conversation=conversation).order_by("-id")
    return newest.values_list("pk", flat=True).first()


def _describe_caller(principal: str) -> str:
    kind, _colon, key_id = principal.partition(":")
    if principal.startswith(PLAYGROUND):
        user = get_user_model().objects.filter(pk=key_id).first() if key_id.isdecimal() else None
        return _("Playground of %(name)s") % {"name": user} if user else _("Playground")
    if kind != "key" or not key_id.isdecimal():
        return _("Anonymous")
    name = EndpointKey.objects.filter(pk=key_id).values_list("name", flat=True).first()
    return _("API key “%(name)s”") % {"name": name} if name else _("Deleted API key")
