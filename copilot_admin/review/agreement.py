"""How far two people who judged the same conversations agree."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from copilot_admin.models import Criterion, CriterionKind, ReviewQueue, Verdict

RATING = 0  # stands for the rating among the ids of criteria


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How often two judged alike.

    Attributes:
        number: Conversations that both judged.
        same: Those of them that both judged alike.
        kappa: Cohen's: 1 for full agreement, 0 for what chance would give; None where chance
            alone would make them agree always, as when everybody always says the same.
    """

    number: int
    same: int
    kappa: float | None

    @property
    def per_cent(self) -> int:
        """How many of a hundred were judged alike."""
        return round(100 * self.same / self.number) if self.number else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAgreement:
    """The agreement on one thing; `name` is empty for the rating."""

    name: str
    agreement: Agreement


def agreement(pairs: Sequence[tuple[Hashable, Hashable]]) -> Agreement:
    """The agreement of two judges.

    Args:
        pairs: What the first and what the second said of each thing.
    """
    number, same = len(pairs), sum(one == other for one, other in pairs)
    if not number:
        return Agreement(number=0, same=0, kappa=None)
    first = Counter(one for one, _ in pairs)
    second = Counter(other for _, other in pairs)
    # Whole numbers as long as possible: both sides are multiplied by the square of the number.
    by_chance = sum(first[value] * second[value] for value in first)
    rest = number * number - by_chance
    kappa = (same * number - by_chance) / rest if rest else None
    return Agreement(number=number, same=same, kappa=kappa)


def agreement_in(queue: ReviewQueue) -> list[NamedAgreement]:
    """On what those who read the conversations of a queue agree: rating, labels, scores.

    Of each conversation the verdicts of two of its readers count, those who have been here longest.
    """
    rows = Verdict.objects.filter(
        turn=None,
        conversation__in=queue.seats.exclude(done_at=None).values("conversation"),
        author__in=queue.seats.exclude(done_at=None).values("reviewer"),
    )
    said = [
        (
            row.conversation_id,
            {RATING: row.rating, **{m.criterion_id: m.value for m in row.marks.all()}},
        )
        for row in rows.prefetch_related("marks").order_by("conversation", "author")
    ]
    pairs = list(_pairs(said))
    criteria = Criterion.objects.filter(marks__verdict__in=rows).distinct()
    named = [NamedAgreement(name="", agreement=agreement([_both(pair, RATING) for pair in pairs]))]
    for criterion in criteria:
        both = [_both(pair, criterion.pk) for pair in pairs]
        if criterion.kind == CriterionKind.SCORE:  # only where both gave one
            both = [(one, other) for one, other in both if one is not None and other is not None]
        named.append(NamedAgreement(name=criterion.name, agreement=agreement(both)))
    return [one for one in named if one.agreement.number]


Said = Mapping[int, Hashable]


def _pairs(said: Iterable[tuple[int, Said]]) -> Iterator[tuple[Said, Said]]:
    by_conversation: dict[int, list[Said]] = defaultdict(list)
    for conversation, one in said:
        by_conversation[conversation].append(one)
    for verdicts in by_conversation.values():
        if len(verdicts) >= 2:
            yield verdicts[0], verdicts[1]


def _both(pair: tuple[Said, Said], criterion: int) -> tuple[Hashable, Hashable]:
    return pair[0].get(criterion), pair[1].get(criterion)
