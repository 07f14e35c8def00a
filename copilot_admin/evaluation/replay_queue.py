"""The questions of a replay: begun, claimed, kept, given back, paused and stopped; writes.

What is left to do stands in the rows, so that a replay goes on after a restart. What a question brings
is read when it is asked, one at a time.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Left
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.question_queue import UNFINISHED, answered
from copilot_admin.evaluation.question_runs import QuestionResult
from copilot_admin.evaluation.replay_decisions import (
    GOING_ON,
    Next,
    ReplayWish,
    Spent,
    after,
    is_slower,
    next_question,
)
from copilot_admin.models import (
    AnswerState,
    Baseline,
    Judgement,
    RecordedAnswer,
    Replay,
    ReplayAnswer,
    ReplayState,
    SavedAnswer,
    SavedQuestion,
    Side,
)
from copilot_admin.models.evaluation import MAX_EXCERPT_LENGTH
from copilot_admin.transcripts.store.checkpoints import is_missed

MOST_REPLAYED = 1_000  # questions


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedReplay:
    """A question of a replay that somebody is to ask, and nobody else."""

    answer_id: int
    replay: Replay
    question: SavedQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """The earlier answer to a question of a replay."""

    baseline: Baseline = Baseline.NONE
    text: str = ""
    ms: int = 0
    tokens: int = 0
    cost: Decimal | None = None


def begin(replay: Replay, questions: QuerySet[SavedQuestion]) -> Replay:
    """Stores a replay and what it asks, in the order of the questions.

    Raises:
        ConfigurationError: There is nothing to ask, or too much.
    """
    heads = questions.order_by("position", "id").annotate(
        begins=Left("question", MAX_EXCERPT_LENGTH)
    )
    rows = list(heads.values_list("pk", "origin", "begins")[: MOST_REPLAYED + 1])
    if not rows:
        raise ConfigurationError(_("There is no such question to ask. Save some first."))
    if len(rows) > MOST_REPLAYED:
        sentence = _("A replay has %(most)d questions at most. Choose those of a label.")
        raise ConfigurationError(sentence % {"most": MOST_REPLAYED})
    replay.moved_at = timezone.now()
    with transaction.atomic():
        replay.save()
        ReplayAnswer.objects.bulk_create(
            ReplayAnswer(replay=replay, question_id=pk, origin=origin, position=position, head=head)
            for position, (pk, origin, head) in enumerate(rows)
        )
    return replay


def claim(replay_id: int, *, at_once: int) -> ClaimedReplay | None:
    """Takes the next question of a replay; it is given to one caller only.

    Args:
        replay_id: Which.
        at_once: Questions of a replay that may be asked at the same time, by whomever.

    Returns:
        None where nothing is to be asked now.
    """
    going_on = Replay.objects.filter(
        pk=replay_id, state__in=GOING_ON, copilot__deletion_requested_at=None
    )
    replay = going_on.select_related("copilot__provider", "provider").first()
    if replay is None:
        return None
    now = timezone.now()
    answers = ReplayAnswer.objects.filter(replay=replay_id)
    left = answers.filter(is_missed("claimed_at", now), state=AnswerState.ASKING)
    left.update(state=AnswerState.WAITING)
    spent = spent_of(replay_id)
    if spent.under_way >= at_once:
        return None
    match next_question(spent, replay.most_cost):
        case Next.NEVER:
            if answers.filter(state=AnswerState.WAITING).exists():
                going_on.update(state=ReplayState.COST_BOUND, finished_at=now)
            return None
        case Next.LATER:
            return None
    return _next_of(replay, answers, now)


def _next_of(
    replay: Replay, answers: QuerySet[ReplayAnswer], now: datetime
) -> ClaimedReplay | None:
    waiting = answers.filter(state=AnswerState.WAITING).order_by("position")
    while (row := waiting.select_related("question").first()) is not None:
        if row.question is None:
            _lost(row)
            continue
        mine = waiting.filter(pk=row.pk).order_by()
        if mine.update(state=AnswerState.ASKING, claimed_at=now):
            Replay.objects.filter(pk=replay.pk, state__in=GOING_ON).update(
                state=ReplayState.RUNNING, moved_at=now
            )
            return ClaimedReplay(answer_id=row.pk, replay=replay, question=row.question)
    _finish(replay.pk)
    return None


def spent_of(replay_id: int) -> Spent:
    """What a replay cost so far, and how many of its questions are under way."""
    done = Q(state=AnswerState.DONE)
    found = ReplayAnswer.objects.filter(replay=replay_id).aggregate(
        known=Sum("cost", filter=done),
        n_known=Count("id", filter=done & Q(cost__isnull=False)),
        n_unknown=Count("id", filter=done & Q(cost=None)),
        under_way=Count("id", filter=Q(state=AnswerState.ASKING)),
    )
    return Spent(**{**found, "known": found["known"] or Decimal(0)})


def keep(claimed: ClaimedReplay, result: QuestionResult) -> bool:
    """Stores an answer beside the one before, unless somebody has stopped the replay.

    Returns:
        Whether it is kept.
    """
    asked, figures = result.asked, result.asked.figures
    before = before_of(claimed.question)
    is_compared = before.baseline != Baseline.NONE and not asked.failure
    rows = ReplayAnswer.objects.filter(pk=claimed.answer_id, state=AnswerState.ASKING)
    kept = rows.update(
        **answered(asked, result.verdict),
        failure=asked.failure,
        cost_is_estimated=figures.cost.confidence == "estimated",
        baseline=before.baseline,
        before_text=before.text,
        before_ms=before.ms,
        before_tokens=before.tokens,
        before_cost=before.cost,
        is_changed=before.text != asked.answer.text if is_compared else None,
        is_slower=is_slower(figures.ms, before.ms) if is_compared else None,
    )
    _finish(claimed.replay.pk)
    return bool(kept)


def before_of(question: SavedQuestion) -> Before:
    """What a question was answered before: when somebody asked it for real, else by what was live."""
    recorded = RecordedAnswer.objects.filter(question=question).first()
    if recorded is not None and (recorded.text or not recorded.failure):
        return Before(
            baseline=Baseline.RECORDED,
            text=recorded.text,
            ms=recorded.ms,
            tokens=recorded.input_tokens + recorded.output_tokens,
            cost=recorded.cost,
        )
    live = SavedAnswer.objects.filter(
        question=question, side=Side.LIVE, answered_at__isnull=False
    ).first()
    if live is None or live.failed or (live.judgement == Judgement.UNDECIDED and not live.text):
        return Before()
    return Before(
        baseline=Baseline.LIVE,
        text=live.text,
        ms=live.ms,
        tokens=live.input_tokens + live.output_tokens,
        cost=live.cost,
    )


def give_back(answer_ids: Collection[int]) -> None:
    """Lets questions wait again that could not be asked now."""
    if answer_ids:
        rows = ReplayAnswer.objects.filter(pk__in=answer_ids, state=AnswerState.ASKING)
        rows.update(state=AnswerState.WAITING, claimed_at=None)


def sign_of_life(replay_id: int, answer_ids: Sequence[int]) -> frozenset[int]:
    """Says that somebody asks the questions of a replay.

    Returns:
        The answers that are still wanted: those of a replay that pauses are.
    """
    now = timezone.now()
    Replay.objects.filter(pk=replay_id).update(moved_at=now)
    wanted = ReplayAnswer.objects.filter(pk__in=answer_ids, state=AnswerState.ASKING)
    wanted.update(claimed_at=now)
    return frozenset(wanted.values_list("pk", flat=True))


def grant(replay_id: int, wish: ReplayWish) -> bool:
    """Pauses a replay, lets it go on, or stops it.

    Returns:
        Whether it could be: a replay that is done stays so.
    """
    now = timezone.now()
    with transaction.atomic():
        replay = Replay.objects.select_for_update(of=("self",)).filter(pk=replay_id).first()
        state = after(replay.state, wish) if replay else None
        if replay is None or state is None:
            return False
        replay.state, replay.moved_at = state, now
        replay.finished_at = now if wish is ReplayWish.STOP else None
        replay.save(update_fields=["state", "moved_at", "finished_at"])
        if wish is ReplayWish.STOP:
            rows = ReplayAnswer.objects.filter(replay=replay_id, state=AnswerState.ASKING)
            rows.update(state=AnswerState.WAITING, claimed_at=None)
    return True


def claim_stalled() -> list[int]:
    """Replays whose questions nobody asks any more; each is handed to one caller only."""
    now = timezone.now()
    stalled = Replay.objects.filter(is_missed("moved_at", now), state__in=GOING_ON)
    ids = list(stalled.order_by("pk").values_list("pk", flat=True))
    return [pk for pk in ids if stalled.filter(pk=pk).update(moved_at=now)]


def _lost(row: ReplayAnswer) -> None:
    ReplayAnswer.objects.filter(pk=row.pk, state=AnswerState.WAITING).update(
        state=AnswerState.DONE,
        judgement=Judgement.UNDECIDED,
        failure=_("The question was deleted before it was asked."),
        cost=Decimal(0),
        answered_at=timezone.now(),
    )


def _finish(replay_id: int) -> None:
    if ReplayAnswer.objects.filter(replay=replay_id, state__in=UNFINISHED).exists():
        return
    states = (*GOING_ON, ReplayState.PAUSED, ReplayState.COST_BOUND)
    rows = Replay.objects.filter(pk=replay_id, state__in=states)
    rows.update(state=ReplayState.DONE, finished_at=timezone.now())
