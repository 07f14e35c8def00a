"""Replays as pages and commands show them: what their answers come to, and single pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import Left
from django.utils.translation import gettext as _

from copilot_admin.evaluation.differences import TextPart, differences, shortened
from copilot_admin.evaluation.question_queue import UNFINISHED
from copilot_admin.evaluation.replay_decisions import Spent, Tally, bound_sentence, summary
from copilot_admin.models import (
    AnswerState,
    Baseline,
    Judgement,
    Replay,
    ReplayAnswer,
    ReplayState,
    ReplayTarget,
)

SHOWN = 600  # characters of each answer in the list; the whole pair is loaded when it is opened
_DONE = Q(answers__state=AnswerState.DONE)
_COMPARED = _DONE & Q(answers__is_changed__isnull=False)
_PRICED = _COMPARED & Q(answers__cost__isnull=False, answers__before_cost__isnull=False)
_COUNTED = _COMPARED & Q(answers__input_tokens__gt=0, answers__before_tokens__gt=0)
_NUMBERS: Mapping[str, Any] = {
    "total": Count("answers"),
    "unfinished": Count("answers", filter=Q(answers__state__in=UNFINISHED)),
    "failed": Count("answers", filter=_DONE & ~Q(answers__failure="")),
    "compared": Count("answers", filter=_COMPARED),
    "changed": Count("answers", filter=Q(answers__is_changed=True)),
    "slower": Count("answers", filter=Q(answers__is_slower=True)),
    "priced": Count("answers", filter=_PRICED),
    "cost_before": Sum("answers__before_cost", filter=_PRICED),
    "cost_after": Sum("answers__cost", filter=_PRICED),
    "tokens_before": Sum("answers__before_tokens", filter=_COUNTED),
    "tokens_after": Sum(F("answers__input_tokens") + F("answers__output_tokens"), filter=_COUNTED),
    "known": Sum("answers__cost", filter=_DONE),
    "n_known": Count("answers", filter=_DONE & Q(answers__cost__isnull=False)),
    "n_unknown": Count("answers", filter=_DONE & Q(answers__cost=None)),
    "under_way": Count("answers", filter=Q(answers__state=AnswerState.ASKING)),
    **{
        name: Count("answers", filter=_DONE & Q(answers__judgement=judgement))
        for name, judgement in (
            ("as_expected", Judgement.AS_EXPECTED),
            ("not_as_expected", Judgement.NOT_AS_EXPECTED),
            ("undecided", Judgement.UNDECIDED),
        )
    },
}
_AMOUNTS = ("cost_before", "cost_after", "known")
_SPENT = ("known", "n_known", "n_unknown", "under_way")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayView:
    """A replay and what its answers come to."""

    replay: Replay
    tally: Tally

    @property
    def asked(self) -> str:
        """Which version or model the replay asks, in words."""
        replay = self.replay
        if replay.target == ReplayTarget.VERSION:
            return _("Version %(number)d") % {"number": replay.version_number}
        if replay.target == ReplayTarget.MODEL:
            about = {"model": replay.model, "provider": replay.provider_name}
            return _("The draft with %(model)s of %(provider)s") % about
        return _("The draft as it stood")

    @property
    def summary(self) -> str:
        """What differs from the first answers, in one line."""
        return summary(self.tally)

    @property
    def why(self) -> str:
        """Why it ended early, if it did."""
        if self.replay.state == ReplayState.COST_BOUND and self.replay.most_cost is not None:
            return bound_sentence(self.tally.spent, self.replay.most_cost)
        return ""

    @property
    def is_going_on(self) -> bool:
        return self.replay.state in (ReplayState.WAITING, ReplayState.RUNNING) or bool(
            self.tally.spent.under_way
        )


class Which:
    """Which pairs a page shows; the values stand in addresses."""

    ALL = "all"
    CHANGED = "changed"
    SLOWER = "slower"
    FAILED = "failed"
    UNEXPECTED = "unexpected"


_SHOWN_BY: Mapping[str, Q] = {
    Which.ALL: Q(),
    Which.CHANGED: Q(is_changed=True),
    Which.SLOWER: Q(is_slower=True),
    Which.FAILED: ~Q(failure=""),
    Which.UNEXPECTED: Q(judgement=Judgement.NOT_AS_EXPECTED),
}


def replay_views(replays: QuerySet[Replay]) -> list[ReplayView]:
    """Replays with what their answers come to, in one query and without a text."""
    rows = replays.defer("document").select_related("copilot", "asked_by").annotate(**_NUMBERS)
    return [ReplayView(replay=row, tally=_tally(row)) for row in rows]


def pairs_of(replay_id: int, which: str = Which.ALL) -> QuerySet[ReplayAnswer]:
    """Answers beside those before, without their texts but for the beginnings."""
    rows = ReplayAnswer.objects.filter(_SHOWN_BY.get(which, Q()), replay=replay_id)
    return (
        rows.defer("text", "before_text")
        .annotate(shown=Left("text", SHOWN), shown_before=Left("before_text", SHOWN))
        .order_by("position")
    )


def pair_differences(answer: ReplayAnswer) -> tuple[TextPart, ...]:
    """What an answer says otherwise than the one before; nothing unless there are both."""
    if answer.baseline == Baseline.NONE or answer.is_changed is None:
        return ()
    return shortened(differences(answer.before_text, answer.text))


def told(view: ReplayView, answers: Sequence[ReplayAnswer]) -> dict[str, Any]:
    """All of it but the texts of answers, for programs."""
    tally = view.tally
    return {
        "copilot": view.replay.copilot.slug,
        "asked": view.asked,
        "state": view.replay.state,
        "summary": view.summary,
        "total": tally.total,
        "unfinished": tally.unfinished,
        "failed": tally.failed,
        "compared": tally.compared,
        "changed": tally.changed,
        "slower": tally.slower,
        "not_as_expected": tally.not_as_expected,
        "cost": _amount(tally.spent.known),
        "answers_of_unknown_cost": tally.spent.n_unknown,
        "questions": [_told(one) for one in answers],
    }


def _told(answer: ReplayAnswer) -> dict[str, Any]:
    return {
        "question": answer.head,
        "state": answer.state,
        "changed": answer.is_changed,
        "slower": answer.is_slower,
        "outcome": answer.judgement,
        "failure": answer.failure,
        "ms": answer.ms,
        "ms_before": answer.before_ms,
        "tokens": answer.input_tokens + answer.output_tokens,
        "tokens_before": answer.before_tokens,
        "cost": _amount(answer.cost),
        "cost_before": _amount(answer.before_cost),
    }


def _tally(row: Any) -> Tally:
    numbers: dict[str, Any] = {name: getattr(row, name) or 0 for name in _NUMBERS}
    numbers |= {name: Decimal(numbers[name]) for name in _AMOUNTS}
    spent = Spent(**{name: numbers.pop(name) for name in _SPENT})
    return Tally(**numbers, spent=spent)


def _amount(dollars: Decimal | None) -> str | None:
    """Dollars with their digits, never as 0E-12; None: nobody knows."""
    return None if dollars is None else f"{dollars:f}"
