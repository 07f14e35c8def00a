"""The saved questions that wait to be asked: queued, claimed, given back, kept; writes.

What is left to do stands in the rows of the answers, so that asking goes on after a restart, and an
answer stays what it was until the next one is whole.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from copilot_admin.evaluation.asking import AskingResult
from copilot_admin.evaluation.expectations import AnswerVerdict
from copilot_admin.models import AnswerState, Judgement, SavedAnswer, SavedQuestion, Side
from copilot_admin.transcripts.store.checkpoints import is_missed

UNFINISHED = (AnswerState.WAITING, AnswerState.ASKING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """An answer that somebody is to get, and nobody else."""

    answer_id: int
    question: SavedQuestion
    side: Side
    user_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSource:
    """Whose answer it is: the number of a live version, or the digest of a draft."""

    version_number: int = 0
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingProgress:
    """How far asking has come, in answers of a copilot."""

    total: int
    unfinished: int

    @property
    def done(self) -> int:
        """How many answers are there already."""
        return self.total - self.unfinished


def queue(
    questions: Sequence[SavedQuestion], sides: Collection[Side], *, user_id: int | None
) -> int:
    """Has questions asked; one that waits already is not asked twice.

    Returns:
        How many answers are to be got.
    """
    now = timezone.now()
    with transaction.atomic():
        SavedAnswer.objects.bulk_create(
            [
                SavedAnswer(question=one, side=side, state=AnswerState.DONE)
                for one in questions
                for side in sides
            ],
            ignore_conflicts=True,
        )
        rows = SavedAnswer.objects.filter(
            question__in=questions, side__in=sides, state=AnswerState.DONE
        )
        return rows.update(state=AnswerState.WAITING, claimed_at=now, asked_by=user_id)


def claim(copilot_id: int, *, at_once: int) -> Claimed | None:
    """Takes the next answer that a copilot waits for; it is given to one caller only.

    Args:
        copilot_id: Whose.
        at_once: Answers of a copilot that may be asked for at the same time, by whomever.

    Returns:
        None where nothing waits, or where others ask for as many already: they go on.
    """
    answers = SavedAnswer.objects.filter(question__copilot_id=copilot_id)
    asking = answers.filter(state=AnswerState.ASKING, claimed_at__isnull=False)
    if asking.exclude(is_missed("claimed_at", timezone.now())).count() >= at_once:
        return None
    waiting = (
        answers.filter(state=AnswerState.WAITING)
        .exclude(question__copilot__deletion_requested_at__isnull=False)
        .select_related("question__copilot__provider")
        .order_by("question__position", "question_id", "side")
    )
    while (row := waiting.first()) is not None:
        mine = SavedAnswer.objects.filter(pk=row.pk, state=AnswerState.WAITING).update(
            state=AnswerState.ASKING, claimed_at=timezone.now()
        )
        if mine:
            return Claimed(
                answer_id=row.pk,
                question=row.question,
                side=Side(row.side),
                user_id=row.asked_by_id,
            )
    return None


def keep(
    claimed: Claimed, asked: AskingResult, verdict: AnswerVerdict, source: AnswerSource
) -> bool:
    """Stores an answer, unless somebody has stopped it.

    Returns:
        Whether it is kept.
    """
    rows = SavedAnswer.objects.filter(pk=claimed.answer_id, state=AnswerState.ASKING)
    kept = rows.update(
        version_number=source.version_number,
        digest=source.digest,
        failed=bool(asked.failure),
        **answered(asked, verdict),
    )
    return bool(kept)


def answered(asked: AskingResult, verdict: AnswerVerdict) -> dict[str, Any]:
    """What an answer that is there brings into its row, a saved question's or a replay's."""
    figures = asked.figures
    return {
        "state": AnswerState.DONE,
        "claimed_at": None,
        "judgement": verdict.judgement,
        "reason": verdict.reason,
        "text": asked.answer.text,
        "trace_id": asked.trace_id,
        "ttft_ms": figures.ttft_ms,
        "ms": figures.ms,
        "input_tokens": figures.input_tokens,
        "output_tokens": figures.output_tokens,
        "cost": figures.cost.amount,
        "answered_at": timezone.now(),
    }


def give_back(answer_ids: Collection[int]) -> None:
    """Lets answers wait again that could not be got now."""
    if answer_ids:
        rows = SavedAnswer.objects.filter(pk__in=answer_ids, state=AnswerState.ASKING)
        rows.update(state=AnswerState.WAITING, claimed_at=timezone.now())


def sign_of_life(copilot_id: int, answer_ids: Collection[int]) -> frozenset[int]:
    """Says that somebody asks for these answers of a copilot, and will for those that wait.

    Returns:
        The answers that are still wanted.
    """
    now = timezone.now()
    waiting = SavedAnswer.objects.filter(question__copilot_id=copilot_id, state=AnswerState.WAITING)
    waiting.update(claimed_at=now)
    wanted = SavedAnswer.objects.filter(pk__in=answer_ids, state=AnswerState.ASKING)
    wanted.update(claimed_at=now)
    return frozenset(wanted.values_list("pk", flat=True))


def stop(copilot_id: int) -> None:
    """Asks nothing more of a copilot; answers of earlier runs stay."""
    rows = SavedAnswer.objects.filter(question__copilot_id=copilot_id, state__in=UNFINISHED)
    with transaction.atomic():
        rows.filter(answered_at=None).delete()
        rows.update(state=AnswerState.DONE, claimed_at=None)


def claim_stalled() -> list[int]:
    """Copilots whose questions nobody asks any more; each is handed to one caller only."""
    is_stalled = is_missed("claimed_at", timezone.now())
    stalled = SavedAnswer.objects.filter(is_stalled, state__in=UNFINISHED)
    copilots = list(stalled.order_by().values_list("question__copilot_id", flat=True).distinct())
    return [
        pk
        for pk in copilots
        if stalled.filter(question__copilot_id=pk).update(
            state=AnswerState.WAITING, claimed_at=timezone.now()
        )
    ]


def progress_of(copilot_id: int) -> AskingProgress:
    """How far asking has come."""
    counts = SavedAnswer.objects.filter(question__copilot_id=copilot_id).aggregate(
        total=Count("id"), unfinished=Count("id", filter=Q(state__in=UNFINISHED))
    )
    return AskingProgress(**counts)


def outcome_of(judgements: Collection[str]) -> Judgement:
    """What several answers come to: the worst of them, and nothing is found out where none is."""
    if not judgements or Judgement.UNDECIDED in judgements:
        return Judgement.UNDECIDED
    if Judgement.NOT_AS_EXPECTED in judgements:
        return Judgement.NOT_AS_EXPECTED
    return Judgement.AS_EXPECTED
