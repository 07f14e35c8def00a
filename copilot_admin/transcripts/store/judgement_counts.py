"""Feedback and verdicts in the rollups, counted at the hour of their question."""

from collections import Counter, defaultdict
from collections.abc import Mapping

from django.db.models import F, QuerySet

from copilot_admin.models import CriterionUsage, Feedback, FeedbackSource, Mark, Run, Verdict
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.transcripts.store.rollups import Changes, Slot, caller_of, note_callers


def count_feedback(feedback: Feedback) -> None:
    """Count a user's current feedback instead of the previous one; call it with the row locked."""
    slot = _slots_by("turn_id", [feedback.turn_id]).get(feedback.turn_id)
    if slot is not None and feedback.source == FeedbackSource.END_USER:
        votes = Counter({"up": 0, "down": 0})
        for value, sign in ((feedback.counted, -1), (feedback.value, 1)):
            if value:
                votes["up" if value > 0 else "down"] += sign
        changes = Changes()
        changes.add(slot, votes)
        if slot.caller:  # the run may not be counted yet
            note_callers({(slot.day, slot.copilot_id, slot.caller): slot.hour.hour})
        changes.save()
    feedback.counted = feedback.value
    feedback.save(update_fields=["counted"])


def uncount_verdicts(verdicts: "QuerySet[Verdict]") -> None:
    """Subtract verdicts from the rollups before they change."""
    _add_verdicts(verdicts.filter(is_counted=True), sign=-1)


def count_verdicts(verdicts: "QuerySet[Verdict]") -> None:
    """Count those verdicts that aren't counted yet."""
    _add_verdicts(verdicts.filter(is_counted=False), sign=1)


def _add_verdicts(verdicts: "QuerySet[Verdict]", *, sign: int) -> None:
    rows = list(verdicts.select_for_update(of=("self",)).order_by("pk"))
    if not rows:
        return
    turns = _slots_by("turn_id", [row.turn_id for row in rows if row.turn_id is not None])
    conversations = _slots_by("conversation_id", [row.conversation_id for row in rows])
    marks: defaultdict[int, list[Mark]] = defaultdict(list)
    for mark in Mark.objects.filter(verdict__in=rows).order_by("criterion_id"):
        marks[mark.verdict_id].append(mark)
    changes = Changes()
    for row in rows:
        of_turn = row.turn_id is not None
        slot = turns.get(row.turn_id or 0) if of_turn else conversations.get(row.conversation_id)
        if slot is None:
            continue
        if row.rating:
            changes.add(slot, Counter({row.rating: sign}))
        for mark in marks[row.pk]:
            numbers = Counter(number=sign, total=sign * mark.value)
            key = {"hour": slot.hour, "copilot_id": slot.copilot_id}
            changes.add_row(CriterionUsage, numbers, **key, criterion_id=mark.criterion_id)
    changes.save()
    Verdict.objects.filter(pk__in=[row.pk for row in rows]).update(is_counted=sign > 0)


def _slots_by(column: str, ids: list[int]) -> Mapping[int, Slot]:
    began = "turn__started_at" if column == "turn_id" else "conversation__first_at"
    runs = Run.objects.filter(**{f"{column}__in": ids}, started_at=F(began))
    runs = runs.exclude(principal__startswith=PLAYGROUND).select_related("copilot_version")
    slots: dict[int, Slot] = {}
    for run in runs.order_by("pk"):
        version = run.copilot_version.number if run.copilot_version else 0
        caller = caller_of(run.user_id, run.principal)
        slot = Slot(run.started_at, run.copilot_id, version, run.model, caller)
        slots.setdefault(getattr(run, column), slot)
    return slots
