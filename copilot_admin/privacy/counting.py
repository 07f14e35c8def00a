"""What a removal would take along: counted before anybody says yes."""

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
    SavedQuestion,
    TranscriptExport,
    Turn,
    Verdict,
)
from copilot_admin.models.privacy import ERASED
from copilot_admin.privacy.holds import held_calls, held_conversations, held_days, held_runs
from copilot_admin.privacy.scopes import (
    PrivacyScope,
    caller_days_in,
    calls_in,
    conversations_in,
    loose_runs_in,
)
from copilot_admin.privacy.users import forgotten_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How much a scope means; `held` conversations stay, and those that run wait for their answers.

    Attributes:
        conversations: That go.
        requests: Their runs, and those that belong to no conversation.
        questions: Saved questions that were made from them.
        users: What is known of the user himself, if all that he asked goes.
        exports: Files of transcripts that reach over one of them.
    """

    conversations: int
    held: int
    running: int
    requests: int
    turns: int
    messages: int
    votes: int
    verdicts: int
    calls: int
    questions: int
    exports: int
    users: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing would be removed."""
        return not (self.conversations or self.requests or self.calls or self.users)


def to_be_removed(scope: PrivacyScope) -> Q:
    """Of conversations: those of a scope that no hold keeps, and that nobody is removing yet."""
    found = conversations_in(scope) & ~Q(principal__startswith=ERASED)
    held = held_conversations()
    return found if held is None else found & ~held


def trials_to_be_removed(scope: PrivacyScope) -> Q:
    """Of conversations: those in which somebody asked again what an erasure of a scope takes along."""
    of_those = Conversation.objects.filter(to_be_removed(scope)).order_by().values("pk")
    trials = Q(origin__isnull=False, origin__in=of_those) & ~Q(principal__startswith=ERASED)
    held = held_conversations()
    return trials if held is None else trials & ~held


def loose_runs(scope: PrivacyScope) -> QuerySet[Run]:
    """The runs of a scope that belong to no conversation, have ended and are not held."""
    found = loose_runs_in(scope)
    if found is None:
        return Run.objects.none()
    runs = Run.objects.filter(found).exclude(outcome=Outcome.RUNNING)
    held = held_runs()
    return runs if held is None else runs.exclude(held)


def component_calls(scope: PrivacyScope) -> QuerySet[ComponentCall]:
    """The calls of components of a scope that are not held."""
    found = calls_in(scope)
    if found is None:
        return ComponentCall.objects.none()
    calls = ComponentCall.objects.filter(found)
    held = held_calls()
    return calls if held is None else calls.exclude(held)


def caller_days(scope: PrivacyScope) -> QuerySet[CallerDay]:
    """The days on which somebody of a scope is counted, and that are not held."""
    found = caller_days_in(scope)
    if found is None:
        return CallerDay.objects.none()
    days = CallerDay.objects.filter(found)
    held = held_days()
    return days if held is None else days.exclude(held)


def count(scope: PrivacyScope, *, with_exports: bool = True) -> Count:
    """Counts what a scope means.

    Args:
        scope: What is to go.
        with_exports: Whether files of transcripts go too.
    """
    meant = to_be_removed(scope) | trials_to_be_removed(scope)
    going = Conversation.objects.filter(meant).order_by()
    ids = going.values("pk")
    held = _held(scope)
    runs = Run.objects.filter(conversation__in=ids).order_by()
    turns = Turn.objects.filter(conversation__in=ids).order_by()
    return Count(
        conversations=going.count(),
        held=held,
        running=runs.filter(outcome=Outcome.RUNNING).count(),
        requests=runs.count() + loose_runs(scope).count(),
        turns=turns.count(),
        messages=Node.objects.filter(conversation__in=ids).count(),
        votes=Feedback.objects.filter(turn__in=turns.values("pk")).count(),
        verdicts=Verdict.objects.filter(conversation__in=ids).count(),
        calls=component_calls(scope).count(),
        questions=SavedQuestion.objects.filter(
            Q(origin__in=ids) | Q(recorded__conversation__in=ids)
        ).count(),
        exports=TranscriptExport.objects.count() if with_exports and going.exists() else 0,
        users=0 if held else forgotten_by(scope).count(),
    )


def _held(scope: PrivacyScope) -> int:
    held = held_conversations()
    if held is None:
        return 0
    return Conversation.objects.filter(conversations_in(scope)).filter(held).count()
