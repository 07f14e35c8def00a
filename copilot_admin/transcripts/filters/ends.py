"""Filters by how answers ended."""

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models import Outcome, Run, SeenKind
from copilot_admin.transcripts.filters.choices import one_of, seen
from copilot_admin.transcripts.filters.entries import newest_of, of_error
from copilot_admin.transcripts.filters.filter import FilterControl, Index, TranscriptFilter

ENDS: tuple[TranscriptFilter, ...] = (
    TranscriptFilter(
        name="outcome",
        label=_("Outcome"),
        widget=FilterControl.CHOICE,
        condition=one_of(
            **{one.value: Q(last_outcome=one.value) for one in Outcome},
            **{"any-failed": Q(has_error=True)},
        ),
        choices=lambda: [*Outcome.choices, ("any-failed", _("Any answer failed"))],
        index=Index.ORDER,
        common=frozenset({Outcome.COMPLETED.value}),
        is_cheap=True,
    ),
    TranscriptFilter(
        name="error",
        label=_("Kind of error"),
        widget=FilterControl.TYPED,
        condition=lambda text: Q(
            Exists(
                Run.objects.filter(~Q(error_code=""), conversation=OuterRef("pk"), error_code=text)
            )
        ),
        choices=seen(SeenKind.ERROR),
        hint=_("Any"),
        index=Index.IDS,
        entries=of_error,
        newest=newest_of(of_error),
    ),
)
