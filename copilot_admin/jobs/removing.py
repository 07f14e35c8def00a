"""Remove what is erased or whose time is up, in short batches; writes.

Its row says how far a removal has come and is committed with each batch, so it goes on after a crash
where it stopped. A conversation is taken out of everybody's reach before its first row goes, and
only while nothing in it is being answered: what is asked of it from then on begins a new one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.jobs.removals import unfinished
from copilot_admin.jobs.sweeping import Sweep, sweep_batch
from copilot_admin.jobs.walks import WALKS
from copilot_admin.models import (
    Cause,
    Conversation,
    ExportPart,
    ExportState,
    Outcome,
    RecordedAnswer,
    Removal,
    RemovalState,
    ReplayAnswer,
    Run,
    SavedAnswer,
    SavedQuestion,
    TranscriptExport,
    Turn,
)
from copilot_admin.models.privacy import ERASED
from copilot_admin.privacy import holds, users
from copilot_admin.privacy.counting import (
    caller_days,
    component_calls,
    loose_runs,
    to_be_removed,
    trials_to_be_removed,
)
from copilot_admin.privacy.rows import (
    Gone,
    delete_first,
    of_conversations,
    of_runs,
    without_running,
)
from copilot_admin.privacy.scopes import PrivacyScope, scope_of
from copilot_admin.privacy.spooled import forget_spooled, remember
from copilot_admin.storage.many import delete_rows

CONVERSATIONS = 20  # of one batch; one with more rows than a batch takes several
QUESTIONS = 20
PARTS = 10  # of exports, some 100 kB each


class RemovalStep(StrEnum):
    """What came of a batch of removing transcripts."""

    MOVED = "moved"
    WAITING = "waiting"  # answers that still run, a hold that is being placed, another process
    LAST = "last"  # all rows are gone: the database's own files are next
    GONE = "gone"


def remove_batch(removal_id: int) -> RemovalStep:
    """Removes some rows, and then contents that nothing refers to any more."""
    rows = unfinished().filter(pk=removal_id)
    removal = rows.select_for_update(skip_locked=True, of=("self",)).first()
    if removal is None:
        return RemovalStep.WAITING if rows.exists() else RemovalStep.GONE
    if not holds.stay():
        return RemovalStep.WAITING
    removal.moved_at = timezone.now()
    step = _did(removal)
    removal.save()
    return step


def _did(removal: Removal) -> RemovalStep:
    match removal.state:
        case RemovalState.ROWS:
            return _removed_rows(removal)
        case RemovalState.BLOBS:
            return _swept(removal)
        case _:
            return RemovalStep.LAST


def _removed_rows(removal: Removal) -> RemovalStep:
    ids = _taken(removal)
    if ids:
        gone = _delete_questions(ids) if removal.with_questions else Gone()
        _note(removal, gone if gone.total else _delete_conversations(ids))
        return RemovalStep.MOVED
    if WALKS.ahead(removal.pk) is not None:  # what asks them again is being answered
        return RemovalStep.WAITING
    scope = scope_of(removal)
    gone = _delete_others(scope)
    gone.counts[ExportPart.__name__] += _delete_parts()
    _note(removal, gone)
    if not gone.total and not WALKS.begin_anew(removal.pk):
        if Conversation.objects.filter(to_be_removed(scope)).exists() or _asks_now(scope):
            return RemovalStep.WAITING
        _note(removal, users.forget(scope))
        # What nobody refers to after a night's pruning is swept once for all copilots.
        is_erasure = removal.cause == Cause.ERASURE
        removal.state = RemovalState.BLOBS if is_erasure else RemovalState.SCRUB
    return RemovalStep.MOVED


def _taken(removal: Removal) -> list[int]:
    """The conversations that this removal is about to delete: those begun with, or the next ones."""
    mine = f"{ERASED}{removal.pk}"
    begun = Conversation.objects.filter(principal=mine).order_by("pk")
    ids = list(begun.values_list("pk", flat=True)[:CONVERSATIONS])
    if ids:
        return ids
    ids = without_running(_next_ones(removal))
    Conversation.objects.filter(pk__in=ids).update(principal=mine, trace_id="", title="")
    if removal.cause == Cause.ERASURE:
        _withdraw_exports(ids)
    return ids


def _next_ones(removal: Removal) -> list[int]:
    """What is not begun with; trials first, which nobody finds when what they ask again is gone."""
    scope = scope_of(removal)
    if removal.cause == Cause.ERASURE:
        trials = Conversation.objects.filter(trials_to_be_removed(scope))
        if trials.exists():
            return [pk for _, pk in _locked(trials)]
    ahead = WALKS.ahead(removal.pk)
    if ahead is None:
        return []
    places = _locked(Conversation.objects.filter(to_be_removed(scope), ahead))
    WALKS.go_past(removal.pk, places)
    return [pk for _, pk in places]


def _locked(found: QuerySet[Conversation]) -> list[tuple[datetime, int]]:
    """Some in which nothing runs, those first that were silent the longest; and their places."""
    silent = found.filter(_nothing_runs()).order_by("last_at", "pk")
    locked = silent.select_for_update(skip_locked=True, of=("self",))
    return list(locked.values_list("last_at", "pk")[:CONVERSATIONS])


def _asks_now(scope: PrivacyScope) -> bool:
    """Whether a user is being answered outside of conversations, so that his row cannot go yet."""
    runs = Run.objects.filter(user_id=scope.user, conversation=None, outcome=Outcome.RUNNING)
    return scope.is_of_user and runs.exists()


def _delete_conversations(ids: list[int]) -> Gone:
    """Some rows of conversations, and users whose last ones these were."""
    theirs = users.users_of(Conversation.objects.filter(pk__in=ids))
    gone = delete_first(of_conversations(ids))
    if gone.counts[Conversation.__name__]:
        gone.counts += users.forget_silent(theirs).counts
    return gone


def _delete_others(scope: PrivacyScope) -> Gone:
    """Some of what is meant beside conversations, and users whose last rows these were."""
    if scope.user is not None:  # his own row goes at the end, if he is meant as a whole
        return delete_first(_without_conversation(scope))
    theirs = users.users_of(loose_runs(scope)) | users.users_of(component_calls(scope))
    gone = delete_first(_without_conversation(scope))
    gone.counts += users.forget_silent(theirs).counts
    return gone


def _nothing_runs() -> Q:
    return ~Q(Exists(Run.objects.filter(conversation=OuterRef("pk"), outcome=Outcome.RUNNING)))


def _delete_questions(ids: list[int]) -> Gone:
    """Some of what was learnt from conversations, those rows first that others do not refer to.

    A recorded answer is what leads to its question, so both go in one batch, however long it takes,
    and before the turn. What a replay answered outlives a question that somebody deletes.
    """
    turns = Turn.objects.filter(conversation__in=ids).values("pk")
    recorded = RecordedAnswer.objects.filter(turn__in=turns).order_by("pk")
    copies = SavedQuestion.objects.filter(origin__in=ids).order_by("pk")
    made = {
        *recorded.values_list("pk", flat=True)[:QUESTIONS],
        *copies.values_list("pk", flat=True)[:QUESTIONS],
    }
    answers = (
        ReplayAnswer.objects.filter(Q(question__in=made) | Q(origin__in=ids)).order_by(),
        SavedAnswer.objects.filter(question__in=made).order_by(),
    )
    gone = delete_first(answers)
    if not gone.total:
        for model in (RecordedAnswer, SavedQuestion):
            gone.counts[model.__name__] += delete_rows(model._meta.pk, made)
    return gone


def _without_conversation(scope: PrivacyScope) -> Iterator[QuerySet[Any]]:
    """What is meant beside conversations, those rows first that others do not refer to."""
    yield from of_runs(loose_runs(scope))
    yield component_calls(scope).order_by()
    yield caller_days(scope).order_by()


def _withdraw_exports(ids: Iterable[int]) -> None:
    """Takes away the files of transcripts that reach over a conversation; their parts go with it."""
    over = Q()
    for pk in ids:
        over |= Q(bottom__lte=pk, top__gte=pk)
    if not over:
        return
    TranscriptExport.objects.filter(over).update(
        state=ExportState.FAILED,
        error=_("Transcripts in it were erased. Make the export anew."),
        query="",
        words="",
    )


def _delete_parts() -> int:
    parts = ExportPart.objects.filter(export__state=ExportState.FAILED).order_by()
    return delete_rows(ExportPart._meta.pk, list(parts.values_list("pk", flat=True)[:PARTS]))


def _note(removal: Removal, gone: Gone) -> None:
    counts: Counter[str] = Counter(removal.counts)
    counts.update(gone.counts)
    removal.counts = {name: number for name, number in counts.items() if number}
    if removal.cause == Cause.ERASURE:
        remember(gone.runs)
    if gone.runs:
        transaction.on_commit(partial(forget_spooled, gone.runs))


def _swept(removal: Removal) -> RemovalStep:
    sweep = sweep_batch(Sweep(removal.swept_to, removal.in_round))
    if sweep.total:
        removal.counts["Blob"] = removal.counts.get("Blob", 0) + sweep.total
    removal.swept_to, removal.in_round = sweep.after, sweep.in_round
    if sweep.is_done:
        removal.state = RemovalState.SCRUB
    return RemovalStep.MOVED
