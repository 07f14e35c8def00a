"""Selection of the rows that a removal may delete, and their numbers for a preview."""

from dataclasses import dataclass

from django.db.models import Q
from django.db.models.query import QuerySet

from copilot_admin.models import (
    CallerDay,
    ComponentCall,
    Conversation,
    Feedback,
    Node,
    Outcome,
    Run,
    TestCase,
    TranscriptExport,
    Turn,
    Verdict,
)
from copilot_admin.models.privacy import ERASED
from copilot_admin.privacy.holds import held
from copilot_admin.privacy.rows import get_erased_users
from copilot_admin.privacy.scopes import (
    PrivacyScope,
    caller_days_in,
    calls_in,
    conversations_in,
    loose_runs_in,
)

# To count a million takes longer than the statement timeout of servers.
MAX_COUNTED = 100_000


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
    found = _exclude_held(conversations_in(scope))
    return found | removable_trials(scope) if with_trials else found


def removable_trials(scope: PrivacyScope) -> Q:
    originals = Conversation.objects.filter(removable_conversations(scope)).order_by()
    return _exclude_held(Q(origin__isnull=False, origin__in=originals.values("pk")))


def _exclude_held(conversations: Q) -> Q:
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
