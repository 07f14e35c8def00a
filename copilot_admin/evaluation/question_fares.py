"""How the saved questions of copilots fare: how many answer differently, as expected, or not at all.

Answers are compared in the database, so that a page of many copilots reads none of their texts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, FilteredRelation, Q, QuerySet

from copilot_admin.evaluation.question_runs import digest_of_draft
from copilot_admin.models import AnswerState, Copilot, Judgement, SavedQuestion, Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Whose answers would be new: the draft as it stands, and what is live; 0: nothing is."""

    digest: str
    live_number: int

    def are_of(
        self,
        side: str,
        *,
        digest: str,
        number: int,
        answered_at: datetime | None,
        changed_at: datetime,
    ) -> bool:
        if answered_at is None or answered_at < changed_at:
            return False
        if side == Side.DRAFT:
            return digest == self.digest
        return number == self.live_number != 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFare:
    """One question: the new answers that there are.

    Attributes:
        to_ask: The sides whose answer is missing or old.
        failed: The sides that were asked as they stand, and gave no whole answer.
        judgement: What became of the draft's new answer; empty without one, or where it failed.
        differs: Whether both sides have a new answer, and they differ; None: one is missing.
    """

    question_id: int
    to_ask: tuple[Side, ...]
    failed: tuple[Side, ...]
    judgement: str
    differs: bool | None
    is_unfinished: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Fares:
    """All questions of a copilot, each as its answers stand."""

    questions: tuple[QuestionFare, ...] = ()
    has_live: bool = False

    @property
    def total(self) -> int:
        """How many saved questions the copilot has."""
        return len(self.questions)

    @property
    def compared(self) -> int:
        """Questions that draft and live have answered as they stand."""
        return sum(one.differs is not None for one in self.questions)

    @property
    def differ(self) -> int:
        """Questions that the draft answers otherwise than what is live."""
        return sum(one.differs is True for one in self.questions)

    @property
    def as_expected(self) -> int:
        """Answers of the draft that are as expected."""
        return self._judged(Judgement.AS_EXPECTED)

    @property
    def not_as_expected(self) -> int:
        """Answers of the draft that are not as expected."""
        return self._judged(Judgement.NOT_AS_EXPECTED)

    @property
    def undecided(self) -> int:
        """Answers of the draft of which a model could not say whether they are as expected."""
        return self._judged(Judgement.UNDECIDED)

    @property
    def failed_in_draft(self) -> int:
        """Questions that the draft could not answer, as it stands."""
        return sum(Side.DRAFT in one.failed for one in self.questions)

    @property
    def failed_in_live(self) -> int:
        """Questions that what is live could not answer, as it stands."""
        return sum(Side.LIVE in one.failed for one in self.questions)

    @property
    def failed(self) -> int:
        """Questions that at least one side could not answer."""
        return sum(bool(one.failed) for one in self.questions)

    @property
    def to_ask(self) -> int:
        """Questions that lack an answer of the draft or of what is live, as they stand."""
        return sum(bool(one.to_ask) for one in self.questions)

    @property
    def unfinished(self) -> int:
        """Questions that are being asked, or are about to be."""
        return sum(one.is_unfinished for one in self.questions)

    @property
    def asked(self) -> int:
        """Questions whose asking is over, well or not."""
        return self.total - self.unfinished

    def lacking(self, side: Side) -> tuple[int, ...]:
        """The questions of which a side has no new answer, or none at all."""
        return tuple(
            one.question_id for one in self.questions if side in (*one.to_ask, *one.failed)
        )

    def _judged(self, judgement: Judgement) -> int:
        return sum(one.judgement == judgement for one in self.questions)


def sources_of(copilot: Copilot) -> Sources:
    """Whose answers would be new; `provider` and `live` should be loaded with the copilot."""
    number = copilot.live.number if copilot.live else 0
    return Sources(digest=digest_of_draft(copilot), live_number=number)


def fares_of(copilots: Sequence[Copilot]) -> Mapping[int, Fares]:
    """How the questions of each copilot fare, by its id; one query for all."""
    sources = {copilot.pk: sources_of(copilot) for copilot in copilots}
    found: dict[int, list[QuestionFare]] = {pk: [] for pk in sources}
    for row in _rows(sources).order_by("copilot_id", "position", "pk"):
        found[row["copilot_id"]].append(_fare(row, sources[row["copilot_id"]]))
    return {
        pk: Fares(questions=tuple(fares), has_live=bool(sources[pk].live_number))
        for pk, fares in found.items()
    }


def that_differ(copilot_id: int) -> frozenset[int]:
    """The questions that both sides have answered whole, and not with the same words."""
    rows = _rows([copilot_id]).filter(
        is_same=False,
        draft__answered_at__isnull=False,
        live__answered_at__isnull=False,
        draft__failed=False,
        live__failed=False,
    )
    return frozenset(rows.values_list("pk", flat=True))


def _rows(copilot_ids: Iterable[int]) -> QuerySet[Any, Any]:
    return (
        SavedQuestion.objects.filter(copilot__in=copilot_ids)
        .annotate(
            draft=FilteredRelation("answers", condition=Q(answers__side=Side.DRAFT)),
            live=FilteredRelation("answers", condition=Q(answers__side=Side.LIVE)),
        )
        .annotate(is_same=Q(draft__text=F("live__text")))
        .values(
            "pk",
            "copilot_id",
            "updated_at",
            "is_same",
            "draft__state",
            "draft__digest",
            "draft__judgement",
            "draft__failed",
            "draft__answered_at",
            "live__state",
            "live__version_number",
            "live__failed",
            "live__answered_at",
        )
    )


def _fare(row: Mapping[str, Any], sources: Sources) -> QuestionFare:
    new = {side: _is_new(row, side, sources) for side in Side}
    wanted = [Side.DRAFT, *([Side.LIVE] if sources.live_number else [])]
    failed = tuple(side for side in Side if new[side] and row[f"{side}__failed"])
    states = {row["draft__state"], row["live__state"]}
    is_judged = new[Side.DRAFT] and Side.DRAFT not in failed
    return QuestionFare(
        question_id=row["pk"],
        to_ask=tuple(side for side in wanted if not new[side]),
        failed=failed,
        judgement=row["draft__judgement"] if is_judged else "",
        differs=not row["is_same"] if all(new.values()) and not failed else None,
        is_unfinished=bool(states & {AnswerState.WAITING, AnswerState.ASKING}),
    )


def _is_new(row: Mapping[str, Any], side: Side, sources: Sources) -> bool:
    return sources.are_of(
        side,
        digest=row.get(f"{side}__digest") or "",
        number=row.get(f"{side}__version_number") or 0,
        answered_at=row[f"{side}__answered_at"],
        changed_at=row["updated_at"],
    )
