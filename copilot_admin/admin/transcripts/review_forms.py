"""Forms of verdicts and review."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.transcripts.beside import place_of
from copilot_admin.admin.transcripts.way import Way
from copilot_admin.models import (
    Conversation,
    Criterion,
    CriterionKind,
    Rating,
    ReviewQueue,
    ReviewState,
    Verdict,
)
from copilot_admin.review.queues import QueueProgress, holds, progress_of
from copilot_admin.review.reviews import Verdicts, VerdictView
from copilot_admin.transcripts.verdicts import GivenVerdict, Person, active_criteria, verdict_of

LONGEST_COMMENT = 20_000  # characters
LABEL_KEYS = "4567890"  # of the keyboard; those before are of the rating


class RatingKeys(forms.RadioSelect):
    """Each rating has the key of its place."""

    def create_option(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option: dict[str, Any] = super().create_option(*args, **kwargs)
        option["attrs"]["data-key"] = str(int(option["index"]) + 1)
        return option


class VerdictForm(forms.Form):
    """What a reviewer says of a conversation or a turn."""

    rating = forms.ChoiceField(
        label=_("Verdict"),
        choices=Rating.choices,
        widget=RatingKeys,
        error_messages={"required": _("Choose good, mixed or bad.")},
    )
    comment = forms.CharField(
        label=_("Comment"),
        required=False,
        max_length=LONGEST_COMMENT,
        widget=forms.Textarea(
            attrs={"rows": 3, "dir": "auto", "data-key": "c", "data-focus-only": True}
        ),
    )

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        criteria: Sequence[Criterion],
        verdict: Verdict | None = None,
    ) -> None:
        super().__init__(data, initial=_initial(verdict))
        self._criteria = criteria
        for criterion in criteria:
            self.fields[_name(criterion)] = _field(criterion)

    @property
    def labels(self) -> list[tuple[forms.BoundField, str]]:
        """The fields of the labels, with the key that each of the first ones has."""
        chosen = [one for one in self._criteria if one.kind == CriterionKind.LABEL]
        keys = [*LABEL_KEYS, *("" for _ in chosen)]
        return [(self[_name(one)], key) for one, key in zip(chosen, keys, strict=False)]

    @property
    def scores(self) -> list[forms.BoundField]:
        """The fields of the scores."""
        chosen = [one for one in self._criteria if one.kind == CriterionKind.SCORE]
        return [self[_name(one)] for one in chosen]

    def judged(self) -> GivenVerdict:
        """The verdict of a valid form."""
        values = {one.pk: self.cleaned_data[_name(one)] for one in self._criteria}
        return GivenVerdict(
            rating=self.cleaned_data["rating"],
            comment=self.cleaned_data["comment"],
            marks={pk: int(value) for pk, value in values.items() if value not in (False, None)},
        )


def _name(criterion: Criterion) -> str:
    return f"criterion_{criterion.pk}"


def _field(criterion: Criterion) -> forms.Field:
    words: dict[str, Any] = {
        "label": criterion.name,
        "help_text": criterion.help,
        "required": False,
    }
    if criterion.kind == CriterionKind.LABEL:
        return forms.BooleanField(**words)
    values = range(criterion.lowest, criterion.highest + 1)
    return forms.TypedChoiceField(
        **words,
        choices=[("", "–"), *((str(value), str(value)) for value in values)],  # noqa: RUF001  # a dash
        coerce=int,
        empty_value=None,
    )


def _initial(verdict: Verdict | None) -> dict[str, object]:
    if verdict is None:
        return {}
    marks = {f"criterion_{mark.criterion_id}": mark.value for mark in verdict.marks.all()}
    return {"rating": verdict.rating, "comment": verdict.comment, **marks}


STATE_KEYS = {ReviewState.NEW: "u", ReviewState.IN_REVIEW: "r", ReviewState.DONE: "x"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The panel in which a conversation is judged.

    Attributes:
        states: Value, name and key of each state.
        verdicts: What reviewers said of the whole, as far as the reader may see it.
        queue: The one that is read, with its progress; None along a list.
        way: On which he came, with the place from which he goes on.
        left: He reads a queue without a seat for this conversation (any more).
    """

    form: VerdictForm
    states: Sequence[tuple[str, str, str]]
    verdicts: Sequence[VerdictView]
    way: Way
    queue: ReviewQueue | None
    progress: QueueProgress | None
    left: bool


def panel_of(
    conversation: Conversation,
    reader: Person,
    way: Way,
    verdicts: Verdicts,
    *,
    form: VerdictForm | None = None,
) -> Panel:
    """Reads what the panel needs.

    Args:
        conversation: Which.
        reader: Who judges.
        way: On which way he came.
        verdicts: What he may see of everybody's.
        form: What he has sent and has to mend.
    """
    own = verdict_of(conversation, reader)
    queue = ReviewQueue.objects.filter(pk=way.queue).first() if way.queue is not None else None
    return Panel(
        form=form or VerdictForm(criteria=active_criteria(), verdict=own),
        states=[(state.value, str(state.label), STATE_KEYS[state]) for state in ReviewState],
        verdicts=verdicts.get(None, ()),
        way=replace(way, place=place_of(conversation, way.place)),
        queue=queue,
        progress=progress_of(queue, now=timezone.now()) if queue else None,
        left=queue is not None and not holds(queue, conversation.pk, reader),
    )
