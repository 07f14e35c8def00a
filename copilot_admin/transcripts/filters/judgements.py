"""Filters by what users and reviewers said of answers."""

from django.db import connection
from django.db.models import Q
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext_lazy as _

from copilot_admin.models import Feedback, Mark, ReviewState, SeenKind
from copilot_admin.transcripts.filters.choices import one_of, seen, whole_number
from copilot_admin.transcripts.filters.filter import FilterControl, Index, TranscriptFilter
from copilot_admin.transcripts.verdicts import labels

# Said beside the reason, it tells PostgreSQL that there are few: it walked along all conversations.
JUDGED = Q(n_up__gt=0) | Q(n_down__gt=0)


def _reason(text: str) -> Q:
    tagged = Feedback.objects.values("turn__conversation_id")
    if connection.vendor == "postgresql":
        return JUDGED & Q(pk__in=tagged.filter(tags__contains=[text]))
    judged = RawSQL(  # what was typed is a parameter
        "SELECT copilot_admin_feedback.id FROM copilot_admin_feedback, "
        "json_each(copilot_admin_feedback.tags) WHERE json_each.value = %s",
        [text],
    )
    return JUDGED & Q(pk__in=tagged.filter(pk__in=judged))  # not an EXISTS: few answers are judged


def _label(text: str) -> Q:
    labelled = Mark.objects.filter(criterion=whole_number(text)).order_by()
    return Q(pk__in=labelled.values("verdict__conversation"))


OF_USERS: tuple[TranscriptFilter, ...] = (
    TranscriptFilter(
        name="judged",
        label=_("Thumbs"),
        widget=FilterControl.CHOICE,
        condition=one_of(down=Q(n_down__gt=0), up=Q(n_up__gt=0), none=Q(n_down=0, n_up=0)),
        choices=lambda: [("down", _("Down")), ("up", _("Up")), ("none", _("None"))],
        index=Index.ORDER,
        common=frozenset({"none"}),
        is_cheap=True,
    ),
    TranscriptFilter(
        name="reason",
        label=_("Reason"),
        widget=FilterControl.TYPED,
        condition=_reason,
        choices=seen(SeenKind.REASON),
        hint=_("Any"),
        index=Index.IDS,
    ),
)
OF_REVIEWERS: tuple[TranscriptFilter, ...] = (
    TranscriptFilter(
        name="state",
        label=_("Review"),
        widget=FilterControl.CHOICE,
        condition=one_of(**{one.value: Q(review_state=one.value) for one in ReviewState}),
        choices=lambda: ReviewState.choices,
        index=Index.ORDER,
        common=frozenset({ReviewState.NEW.value}),
        is_cheap=True,
    ),
    TranscriptFilter(
        name="label",
        label=_("Label"),
        widget=FilterControl.CHOICE,
        condition=_label,
        choices=lambda: [(str(label.pk), label.name) for label in labels()],
        index=Index.IDS,
    ),
)
