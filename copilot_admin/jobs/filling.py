"""Write what older rows lack since a release brought it, in short batches; the newest rows first.

How far it has come stands in `Filling` and is committed with each batch, so it goes on after a restart
where it stopped, and a statement is never long enough for a timeout to cut.
"""

from collections.abc import Callable, Mapping

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from copilot_admin.models import (
    Conversation,
    Event,
    EventType,
    Feedback,
    Filling,
    NodeKind,
    Outcome,
    Run,
    SeenKind,
    Turn,
    TurnText,
    Verdict,
)
from copilot_admin.storage.many import InsertMany, delete_rows
from copilot_admin.storage.selects import member
from copilot_admin.transcripts.store import is_missed
from copilot_admin.transcripts.store.search_index import (
    SEARCH_FILLING,
    answers_of,
    beginning_of,
    joined,
)
from copilot_admin.transcripts.store.second_judges import (
    VERDICTS_FILLING,
    told_uncounted,
    wrongly_counted,
)
from copilot_admin.transcripts.store.seen import FILTERS_FILLING, note_seen
from copilot_admin.transcripts.store.usage import USAGE_FILLING, CountedRun, beginnings, count
from copilot_admin.transcripts.store.votes import (
    asked_of,
    count_feedback,
    count_verdict,
    counted_in,
)

AT_ONCE = 50  # rows of a batch, some 30 ms: whoever waits for the writer waits no longer

_TEXTS = InsertMany(TurnText, varying=("turn_id", "conversation_id", "text"))


def fill_batch(name: str) -> bool:
    """Does the next rows of a filling.

    Returns:
        Whether nothing is left.
    """
    filling = Filling.objects.filter(pk=name).select_for_update().first()
    if filling is None:
        return True
    lowest = FILLINGS[name](filling.below)
    if lowest is None:
        filling.delete()
        return True
    filling.below, filling.moved_at = lowest, timezone.now()
    filling.save()
    return False


def claim_stalled() -> list[str]:
    """Fillings that nobody does at the moment; each is handed to one caller only."""
    now = timezone.now()
    stalled = Filling.objects.filter(Q(moved_at=None) | is_missed("moved_at", now))
    return [
        name
        for name in stalled.values_list("pk", flat=True)
        if stalled.filter(pk=name).update(moved_at=now)
    ]


def _fill_texts(below: int) -> int | None:
    """Writes what is searched of the next turns; None when there are none."""
    # An answer that ends meanwhile waits for these rows, and is added to the text afterwards.
    turns = Turn.objects.filter(pk__lt=below).order_by("-pk").select_for_update(no_key=True)
    ids = list(turns.values_list("pk", flat=True)[:AT_ONCE])
    if not ids:
        return None
    asked = Turn.objects.filter(pk__in=ids).order_by("pk")
    questions = asked.values_list("pk", "conversation_id", beginning_of("human_node__text"))
    answers = answers_of(ids)
    rows = [
        (turn, conversation, text)
        for turn, conversation, question in questions
        if (text := joined(question or "", *answers.get(turn, ())))
    ]
    delete_rows(TurnText._meta.pk, ids)  # of an answer that ended since the release
    _TEXTS(rows)
    return ids[-1]


def _fill_filters(below: int) -> int | None:
    """Writes what filters ask of the next turns; None when there are none."""
    older = Turn.objects.filter(pk__lt=below).order_by("-pk")
    ids = list(older.values_list("pk", flat=True)[:AT_ONCE])
    if not ids:
        return None
    runs = Run.objects.filter(turn__in=ids).order_by()
    for model, error in set(runs.values_list("model", "error_code")):
        note_seen(SeenKind.MODEL, model)
        note_seen(SeenKind.ERROR, error)
    judged = Feedback.objects.filter(turn__in=ids).order_by()
    for tag in {tag for tags in judged.values_list("tags", flat=True) for tag in tags}:
        note_seen(SeenKind.REASON, tag)
    called = runs.filter(output_node__kind=NodeKind.CALL).values("conversation_id")
    Conversation.objects.filter(pk__in=called, has_call=False).update(has_call=True)
    read = runs.filter(Exists(Event.objects.filter(run=OuterRef("pk"), type=EventType.FILE)))
    with_files = Conversation.objects.filter(pk__in=read.values("conversation_id"), has_file=False)
    with_files.update(has_file=True)
    return ids[-1]


def _fill_usage(below: int) -> int | None:
    """Counts the next requests, thumbs and verdicts into the rollups; None when all are.

    What is counted says so in its row, and no ids of requests are in the order of time.
    """
    runs = Run.objects.filter(is_counted=False).exclude(outcome=Outcome.RUNNING)
    newest = runs.order_by("-started_at").select_for_update(of=("self",))
    found = list(newest.select_related("copilot_version", "turn", "conversation")[:AT_ONCE])
    for run in found:
        count(asked_of(run), _counted(run))
    Run.objects.filter(pk__in=[run.pk for run in found]).update(is_counted=True)
    feedback = Feedback.objects.exclude(counted=F("value")).order_by("-pk").select_for_update()
    thumbs = list(feedback[:AT_ONCE])
    for thumb in thumbs:
        count_feedback(thumb)
    verdicts = _count_verdicts(told_uncounted())
    return below if found or thumbs or verdicts else None


def _fill_verdicts(below: int) -> int | None:
    """Counts the next verdicts that are told by now, and takes out what is not told any longer."""
    return below if _count_verdicts(wrongly_counted()) else None


def _count_verdicts(rows: QuerySet[Verdict]) -> int:
    """Counts the newest of some verdicts as they are to be counted; returns how many."""
    verdicts = list(rows.order_by("-pk").select_for_update()[:AT_ONCE])
    for verdict in verdicts:
        count_verdict(verdict, counted=counted_in(verdict))
    return len(verdicts)


def _counted(run: Run) -> CountedRun:
    begins = beginnings(
        run.started_at,
        turn=run.turn.started_at if run.turn else None,
        talk=run.conversation.first_at if run.conversation else None,
    )
    return CountedRun(
        outcome=member(Outcome, run.outcome),
        error_code=run.error_code,
        tokens=run.input_tokens + run.output_tokens,
        ttft_ms=run.ttft_ms,
        cost=run.cost,
        **(begins if run.outcome != Outcome.REFUSED else {}),
    )


FILLINGS: Mapping[str, Callable[[int], int | None]] = {
    SEARCH_FILLING: _fill_texts,
    FILTERS_FILLING: _fill_filters,
    USAGE_FILLING: _fill_usage,
    VERDICTS_FILLING: _fill_verdicts,
}
