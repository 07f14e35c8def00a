"""The form with which a queue is made of a filtered list."""

from typing import ClassVar

from django import forms
from django.forms import ModelForm
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.transcripts.way import LIST
from copilot_admin.models import ReviewQueue
from copilot_admin.review.queues import HIGHEST_SEED, MOST_QUEUED


class QueueForm(ModelForm[ReviewQueue]):
    """Name, share and judges of a queue, and the filters of the list it is made of."""

    share = forms.IntegerField(
        label=_("Random share, in per cent"),
        min_value=1,
        max_value=100,
        initial=100,
        help_text=_("100: all that the filter finds, the newest first, at most %(most)s.")
        % {"most": MOST_QUEUED},
    )
    seed = forms.IntegerField(
        label=_("Seed of the share"),
        required=False,
        min_value=1,
        max_value=HIGHEST_SEED,
        help_text=_(
            "A number; the same one draws the same conversations from the same list. Empty: any."
        ),
    )
    judges = forms.TypedChoiceField(
        label=_("Each is judged by"),
        coerce=int,
        choices=[(1, _("one person")), (2, _("two people"))],
    )

    class Meta:
        model = ReviewQueue
        fields: ClassVar[list[str]] = ["name"]

    field_order = ("name", "share", "seed", "judges")

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # as the stubs of forms have it
        self.fields[LIST] = forms.CharField(required=False, widget=forms.HiddenInput)
