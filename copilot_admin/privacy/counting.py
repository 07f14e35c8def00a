"""What a removal would take along: counted before anybody says yes."""

from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Model, Q
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

# To count a million takes longer than a statement of a server may.
COUNTED = 100_000

_Row = TypeVar("_Row", bound=Model)


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
    """Which conversations of a scope may go: no hold keeps them, and nobody is removing them yet."""
    found = conversations_in(scope) & ~Q(principal__startswith=ERASED)
    held = held_conversations()
    return found if held is None else found & ~held


def trials_to_be_removed(scope: PrivacyScope) -> Q:
    """Which conversations go with them: somebody asked in them again what an erasure takes along."""
    of_those = Conversation.objects.filter(to_be_removed(scope)).order_by().values("pk")
    trials = Q(origin__isnull=False, origin__in=of_those) & ~Q(principal__startswith=ERASED)
    held = held_conversations()
    return trials if held is None else trials & ~held


def begun_with(scope: PrivacyScope, *, with_trials: bool = False) -> int:
    """How many conversations a removal has before it; `COUNTED` stands for as many and more.

    Args:
        scope: What is to go.
        with_trials: Whether those go along that ask them again.
    """
    found = _counted(to_be_removed(scope))
    if with_trials and found < COUNTED:
        found = _counted(to_be_removed(scope) | trials_to_be_removed(scope))
    return found


def _counted(which: Q) -> int:
    return Conversation.objects.filter(which).order_by()[:COUNTED].count()


def loose_runs(scope: PrivacyScope) -> QuerySet[Run]:
    """The runs of a scope that belong to no conversation, have ended and are not held."""
    ended = Run.objects.exclude(outcome=Outcome.RUNNING)
    return _not_held(ended, loose_runs_in(scope), held_runs())


def component_calls(scope: PrivacyScope) -> QuerySet[ComponentCall]:
    """The calls of components of a scope that are not held."""
    return _not_held(ComponentCall.objects.all(), calls_in(scope), held_calls())


def caller_days(scope: PrivacyScope) -> QuerySet[CallerDay]:
    """The days on which somebody of a scope is counted, and that are not held."""
    return _not_held(CallerDay.objects.all(), caller_days_in(scope), held_days())


def _not_held(rows: QuerySet[_Row], found: Q | None, held: Q | None) -> QuerySet[_Row]:
    """The rows that are found and not held; None stands for none of them."""
    if found is None:
        return rows.none()
    return rows.filter(found) if held is None else rows.filter(found).exclude(held)


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
