"""Selection and deletion of rows of conversations, runs and users, in short batches, and a preview."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from copilot_admin.models import (
    Assignment,
    CallerDay,
    Checkpoint,
    ComponentCall,
    Conversation,
    EndUser,
    EvaluationResult,
    Event,
    Feedback,
    LegalHold,
    LimitRejection,
    Mark,
    Node,
    Outcome,
    Run,
    SubjectLimits,
    TestCase,
    TranscriptExport,
    Turn,
    TurnNote,
    TurnText,
    Verdict,
)
from copilot_admin.models.privacy import ERASED
from copilot_admin.models.usage import LimitScope
from copilot_admin.privacy.holds import held
from copilot_admin.privacy.scopes import (
    PrivacyScope,
    caller_days_in,
    calls_in,
    conversations_in,
    loose_runs_in,
)
from copilot_admin.storage.sql import delete_rows
from copilot_admin.transcripts.store.rollups import count_runs

MAX_BATCH_ROWS = 200  # some 10 ms, in which nobody else can write, and several times that if busy
# To count a million takes longer than the statement timeout of servers.
MAX_COUNTED = 100_000


@dataclass(slots=True)
class DeletedRows:
    """Number of deleted rows of each model, and the ids of deleted runs."""

    counts: Counter[str] = field(default_factory=Counter)
    runs: list[UUID] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.counts.total()


def get_conversation_rows(ids: Sequence[int]) -> Iterable[QuerySet[Any]]:
    """Yield all rows of conversations, in an order in which foreign keys let them be deleted."""
    yield Event.objects.filter(run__conversation_id__in=ids).order_by()
    yield Checkpoint.objects.filter(run__conversation_id__in=ids).order_by()
    yield Run.objects.filter(conversation_id__in=ids).order_by()
    yield Feedback.objects.filter(turn__conversation_id__in=ids).order_by()
    yield TurnText.objects.filter(conversation_id__in=ids).order_by()
    yield Mark.objects.filter(verdict__conversation_id__in=ids).order_by()
    yield Verdict.objects.filter(conversation_id__in=ids).order_by()
    yield Assignment.objects.filter(conversation_id__in=ids).order_by()
    yield TurnNote.objects.filter(turn__conversation_id__in=ids).order_by()
    yield Turn.objects.filter(conversation_id__in=ids).order_by()
    yield Node.objects.filter(conversation_id__in=ids).order_by("-depth", "-id")
    yield Conversation.objects.filter(pk__in=ids).order_by()


def get_test_case_rows(ids: Sequence[int]) -> Iterable[QuerySet[Any]]:
    """Yield the test cases made from conversations, after their results.

    They are found through their turn, so they are deleted before it.
    """
    turns = Turn.objects.filter(conversation__in=ids).values("pk")
    cases = TestCase.objects.filter(Q(origin__in=ids) | Q(source_turn__in=turns)).order_by()
    yield EvaluationResult.objects.filter(case__in=cases).order_by()
    yield cases


def get_run_rows(runs: QuerySet[Run]) -> Iterable[QuerySet[Any]]:
    """Yield the rows of the first runs without conversations, in the same order.

    Most were refused and have no other rows. To search for those among a million took seconds.
    """
    some = list(runs.order_by().values_list("pk", flat=True)[:MAX_BATCH_ROWS])
    yield Event.objects.filter(run__in=some).order_by()
    yield Checkpoint.objects.filter(run__in=some).order_by()
    yield Run.objects.filter(pk__in=some).order_by()


def delete_first_rows(
    in_order: Iterable[QuerySet[Any]], *, users: Collection[int] = ()
) -> DeletedRows:
    """Delete the first rows, as many as fit in a batch, and then those users who have none left."""
    deleted = DeletedRows()
    for rows in in_order:
        pks = list(rows.values_list("pk", flat=True)[: MAX_BATCH_ROWS - deleted.total])
        if pks and rows.model is Run:
            count_runs(pks)
            deleted.runs += pks
        deleted.counts[rows.model.__name__] += delete_rows(rows.model._meta.pk, pks)
        if deleted.total >= MAX_BATCH_ROWS:
            break
    if deleted.total:
        unused = _filter_unused_users(users)
        deleted.counts[EndUser.__name__] += delete_rows(EndUser._meta.pk, unused)
    return deleted


def exclude_running(conversation_ids: Sequence[int]) -> list[int]:
    running = Run.objects.filter(conversation_id__in=conversation_ids, outcome=Outcome.RUNNING)
    busy = set(running.values_list("conversation_id", flat=True))
    return [pk for pk in conversation_ids if pk not in busy]


def get_user_ids(*tables: QuerySet[Any]) -> set[int]:
    """Return the users of the first rows, as many as one batch deletes."""
    found: set[int | None] = set()
    for rows in tables:
        found.update(rows.order_by().values_list("user_id", flat=True)[:MAX_BATCH_ROWS])
    return {pk for pk in found if pk is not None}


def get_erased_users(scope: PrivacyScope) -> QuerySet[EndUser]:
    """Return the user whom a scope selects as a whole, unless they are held."""
    if scope.user is None or not scope.is_of_user:
        return EndUser.objects.none()
    return EndUser.objects.filter(pk=scope.user).exclude(_has_rows(LegalHold, "user_row"))


def delete_erased_user(scope: PrivacyScope) -> DeletedRows:
    """Delete the user whom a scope selects as a whole, and the limits set for them."""
    deleted = DeletedRows()
    user = get_erased_users(scope).first()
    if user is not None and _filter_unused_users([user.pk]):
        for model in (SubjectLimits, LimitRejection):
            rows = model.objects.filter(scope=LimitScope.USER, subject=user.identifier)
            deleted.counts[model.__name__] += rows.delete()[0]
        deleted.counts[EndUser.__name__] += delete_rows(EndUser._meta.pk, [user.pk])
    return deleted


def _filter_unused_users(ids: Collection[int]) -> list[int]:
    if not ids:
        return []
    users = EndUser.objects.filter(pk__in=ids)
    for model in (Conversation, Run, ComponentCall):
        users = users.exclude(_has_rows(model, "user"))
    users = users.exclude(_has_rows(LegalHold, "user_row"))
    return list(users.order_by("pk").values_list("pk", flat=True))


def _has_rows(model: type[Model], column: str) -> Exists:
    return Exists(model._default_manager.filter(**{column: OuterRef("pk")}))


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalPreview:
    conversations: int
    held: int  # conversations that a legal hold keeps
    running: int  # open runs; their conversations are deleted when they have ended
    requests: int  # runs of the conversations, and those without a conversation
    turns: int
    messages: int
    votes: int
    verdicts: int
    calls: int
    questions: int  # test cases made from the conversations
    exports: int  # files that may contain a conversation
    users: int = 0  # end users of whom everything is deleted

    @property
    def is_empty(self) -> bool:
        return not (self.conversations or self.requests or self.calls or self.users)


def removable_conversations(scope: PrivacyScope, *, with_trials: bool = False) -> Q:
    """Select the conversations that aren't held and not being removed yet.

    Trials are playground conversations that asked those of a scope again.
    """
    found = _exclude_legal_holds(conversations_in(scope))
    return found | removable_trials(scope) if with_trials else found


def removable_trials(scope: PrivacyScope) -> Q:
    originals = Conversation.objects.filter(removable_conversations(scope)).order_by()
    return _exclude_legal_holds(Q(origin__isnull=False, origin__in=originals.values("pk")))


def _exclude_legal_holds(conversations: Q) -> Q:
    return conversations & ~Q(principal__startswith=ERASED) & ~held(conversations_in)


def count_conversations(scope: PrivacyScope, *, with_trials: bool = False) -> int:
    """Return the number of removable conversations, at most `MAX_COUNTED`."""
    found = Conversation.objects.filter(removable_conversations(scope, with_trials=with_trials))
    return found.order_by()[:MAX_COUNTED].count()


def removable_runs(scope: PrivacyScope) -> QuerySet[Run]:
    ended = Run.objects.exclude(outcome=Outcome.RUNNING)
    return ended.filter(loose_runs_in(scope)).exclude(held(loose_runs_in))


def removable_calls(scope: PrivacyScope) -> QuerySet[ComponentCall]:
    return ComponentCall.objects.filter(calls_in(scope)).exclude(held(calls_in))


def removable_caller_days(scope: PrivacyScope) -> QuerySet[CallerDay]:
    return CallerDay.objects.filter(caller_days_in(scope)).exclude(held(caller_days_in))


def preview_removal(scope: PrivacyScope, *, with_exports: bool = True) -> RemovalPreview:
    """Count what a removal would delete; a retention deletes no exports."""
    condition = removable_conversations(scope, with_trials=True)
    conversations = Conversation.objects.filter(condition).order_by()
    ids = conversations.values("pk")
    runs = Run.objects.filter(conversation__in=ids).order_by()
    turns = Turn.objects.filter(conversation__in=ids).order_by()
    cases = Q(origin__in=ids) | Q(source_turn__in=turns.values("pk"))
    in_scope = Conversation.objects.filter(conversations_in(scope))
    number_held = in_scope.filter(held(conversations_in)).count()
    return RemovalPreview(
        conversations=conversations.count(),
        held=number_held,
        running=runs.filter(outcome=Outcome.RUNNING).count(),
        requests=runs.count() + removable_runs(scope).count(),
        turns=turns.count(),
        messages=Node.objects.filter(conversation__in=ids).count(),
        votes=Feedback.objects.filter(turn__in=turns.values("pk")).count(),
        verdicts=Verdict.objects.filter(conversation__in=ids).count(),
        calls=removable_calls(scope).count(),
        questions=TestCase.objects.filter(cases).count(),
        exports=TranscriptExport.objects.count() if with_exports and conversations.exists() else 0,
        users=0 if number_held else get_erased_users(scope).count(),
    )
