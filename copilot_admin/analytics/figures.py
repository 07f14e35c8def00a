"""Figures of a period, whatever they were counted from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from copilot_admin.analytics.first_token import FirstToken, percentile
from copilot_admin.analytics.periods import FiguresPeriod, Span
from copilot_admin.models import Copilot, Criterion
from copilot_admin.models.usage import TTFT_COLUMNS
from copilot_admin.transcripts.store.rollups import COUNTED

Number = int | Decimal
MOST_ROWS = 200  # of models, versions and kinds of errors


@dataclass(frozen=True, slots=True)
class Counts:
    """What the rollups say of a while: numbers by the names of their columns."""

    numbers: Mapping[str, Number] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Number:
        return self.numbers.get(name, 0)

    def __add__(self, other: "Counts") -> "Counts":
        return Counts({name: self[name] + other[name] for name in COUNTED})

    def first_token(self, share: float) -> FirstToken | None:
        """The time within which a share of answers began."""
        return percentile([int(self[name]) for name in TTFT_COLUMNS], share)

    @property
    def liked(self) -> float | None:
        """The share of thumbs that are up; None without any."""
        return _share(self["up"], self["up"] + self["down"])

    @property
    def failed(self) -> float | None:
        """The share of requests that ended in an error; None without any."""
        return _share(self["errors"], self["runs"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """How often a label or score was given, now and before; `total` is the sum of the scores."""

    criterion: Criterion
    number: int
    total: int
    before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FiguresPart:
    """The counts of one model, or of one version of a copilot."""

    counts: Counts
    model: str = ""
    version: int = 0
    copilot: Copilot | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """All figures of a period.

    Attributes:
        series: Each hour of one day, or each day or week, with its counts.
        people: Who asked, each once however often.
        people_of: The same for each day or week, by its first day; empty where hours are shown.
        errors: How often each kind came, now and before, the most frequent first.
    """

    period: FiguresPeriod
    now: Counts
    before: Counts
    series: Sequence[tuple[Span, Counts]]
    people: int
    people_before: int
    people_of: Mapping[date, int]
    errors: Sequence[tuple[str, int, int]]
    marks: Sequence[Marked]
    models: Sequence[FiguresPart]
    versions: Sequence[FiguresPart]


def _share(part: Number, whole: Number) -> float | None:
    return float(part) / float(whole) if whole else None


def in_steps(period: FiguresPeriod, found: Mapping[datetime, Counts]) -> list[tuple[Span, Counts]]:
    """Each step of a period with what was found that begins with it."""
    return [(span, found.get(span.first, Counts())) for span in period.steps]


def most_frequent(now: Mapping[str, int], before: Mapping[str, int]) -> list[tuple[str, int, int]]:
    """Kinds of errors with how often they came now and before, the most frequent first."""
    codes = sorted({*now, *before}, key=lambda code: (-now.get(code, 0), code))
    return [(code, now.get(code, 0), before.get(code, 0)) for code in codes[:MOST_ROWS]]


def marked(
    now: Mapping[int, tuple[int, int]], before: Mapping[int, tuple[int, int]]
) -> list[Marked]:
    """Labels and scores: how often each was given, and the sum of the scores, by their ids."""
    criteria = Criterion.objects.filter(pk__in={*now, *before})
    return [
        Marked(
            criterion=one,
            number=now.get(one.pk, (0, 0))[0],
            total=now.get(one.pk, (0, 0))[1],
            before=before.get(one.pk, (0, 0))[0],
        )
        for one in criteria
    ]


def with_copilots(rows: Iterable[tuple[tuple[Any, ...], Counts]]) -> list[FiguresPart]:
    """The versions that were asked most, by the ids of their copilots and their numbers."""
    found = sorted(rows, key=lambda row: -row[1]["runs"])[:MOST_ROWS]
    copilots = Copilot.objects.in_bulk([key[0] for key, _ in found])
    parts = [
        FiguresPart(copilot=copilots.get(key[0]), version=key[1], counts=counts)
        for key, counts in found
    ]
    return most_asked(parts)


def most_asked(parts: Sequence[FiguresPart]) -> list[FiguresPart]:
    """The models, or whatever the parts are, that were asked, the most asked first."""
    named = (one for one in parts if one.counts["runs"])
    return sorted(named, key=lambda one: (-one.counts["runs"], one.model))[:MOST_ROWS]
