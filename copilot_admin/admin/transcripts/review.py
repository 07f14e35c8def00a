"""Reviewing: verdicts on conversations and answers, notes, and the next item of a queue."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.transcripts.pages import ReturnContext
from copilot_admin.models import (
    Conversation,
    Criterion,
    CriterionKind,
    Rating,
    ReviewQueue,
    Verdict,
)
from copilot_admin.review.queues import claim_next, is_assigned, progress_of, read_verdicts
from copilot_admin.transcripts.access import REVIEW
from copilot_admin.transcripts.verdicts import active_criteria, verdict_of

MAX_COMMENT_LENGTH = 20_000
LABEL_KEYS = "4567890"  # 1 to 3 are the verdicts
ICONS: Mapping[str, str] = {Rating.GOOD: "ok", Rating.MIXED: "minus", Rating.BAD: "fail"}


class VerdictForm(forms.Form):
    rating = forms.ChoiceField(
        label=gettext_lazy("Verdict"),
        choices=Rating.choices,
        error_messages={"required": gettext_lazy("Choose good, mixed or bad.")},
    )
    comment = forms.CharField(
        label=gettext_lazy("Comment"), required=False, max_length=MAX_COMMENT_LENGTH
    )

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        criteria: Sequence[Criterion],
        verdict: Verdict | None = None,
    ) -> None:
        super().__init__(data)
        if verdict is not None:
            marks = {f"criterion_{one.criterion_id}": one.value for one in verdict.marks.all()}
            self.initial = {"rating": verdict.rating, "comment": verdict.comment, **marks}
        self._criteria = criteria
        for criterion in criteria:
            self.fields[_field_name(criterion)] = _criterion_field(criterion)

    @property
    def ratings(self) -> list[tuple[Rating, str]]:
        """The verdicts with their icons."""
        return [(one, ICONS[one]) for one in Rating]

    @property
    def labels(self) -> list[tuple[forms.BoundField, str]]:
        """The fields of labels, each with its key; only the first ones have one."""
        labels = [one for one in self._criteria if one.kind == CriterionKind.LABEL]
        keys = [*LABEL_KEYS, *("" for _ in labels)]
        return [(self[_field_name(one)], key) for one, key in zip(labels, keys, strict=False)]

    @property
    def scores(self) -> list[forms.BoundField]:
        scores = [one for one in self._criteria if one.kind == CriterionKind.SCORE]
        return [self[_field_name(one)] for one in scores]

    def verdict(self) -> dict[str, Any]:
        """Return the values for `save_verdict`."""
        values = {one.pk: self.cleaned_data[_field_name(one)] for one in self._criteria}
        marks = {pk: int(value) for pk, value in values.items() if value not in (False, None)}
        return {name: self.cleaned_data[name] for name in ("rating", "comment")} | {"marks": marks}


def _field_name(criterion: Criterion) -> str:
    return f"criterion_{criterion.pk}"


def _criterion_field(criterion: Criterion) -> forms.Field:
    if criterion.kind == CriterionKind.LABEL:
        return forms.BooleanField(label=criterion.name, help_text=criterion.help, required=False)
    values = range(criterion.lowest, criterion.highest + 1)
    return forms.TypedChoiceField(
        label=criterion.name,
        help_text=criterion.help,
        required=False,
        choices=[("", _("Not scored")), *((str(value), str(value)) for value in values)],
        coerce=int,
        empty_value=None,
        widget=forms.Select(attrs={"class": "ca-input"}),
    )


def build_review(
    request: HttpRequest,
    conversation: Conversation,
    nav: ReturnContext,
    *,
    form: VerdictForm | None = None,
) -> dict[str, Any]:
    """Return the values of the review panel, with the form to correct if one is given."""
    own = verdict_of(conversation, request.user)
    may_review = request.user.has_perm(REVIEW)
    queue = ReviewQueue.objects.filter(pk=nav.queue).first() if nav.queue else None
    if form is None and may_review:
        form = VerdictForm(criteria=active_criteria(), verdict=own)
    hidden = request.user.pk if may_review else 0  # their own verdict is in the form
    return {
        "form": form if may_review else None,
        "others": [one for one in read_verdicts(conversation) if one.author_id != hidden],
        "queue": queue,
        "progress": progress_of(queue, now=timezone.now()) if queue else None,
        # The reader works on a queue that doesn't assign them this conversation.
        "is_unassigned": queue is not None
        and not is_assigned(queue, conversation.pk, request.user),
    }


def redirect_to_next(
    request: HttpRequest, queue_id: int, *, after: int = 0
) -> HttpResponseRedirect:
    queue = get_object_or_404(ReviewQueue, pk=queue_id)
    with transaction.atomic():
        found = claim_next(queue, request.user, now=timezone.now(), after=after)
    if found is None:
        messages.info(request, _("Nothing left for you to review in this queue."))
        url = reverse("admin:copilot_admin_reviewqueue_change", args=[queue.pk])
        return HttpResponseRedirect(url)
    nav = ReturnContext(queue=queue.pk)
    return HttpResponseRedirect(nav.url_of("change", found.conversation_id))
