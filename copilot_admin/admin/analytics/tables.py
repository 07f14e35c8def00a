"""The tables behind the figures: by time, kind of error, model, version, label; each is a file too."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from copilot_admin.admin.analytics.cells import FigureCell, cost, number, share, time_to, words
from copilot_admin.admin.analytics.scope import FiguresScope
from copilot_admin.admin.analytics.table_body import body_of
from copilot_admin.analytics.figures import Counts, Figures, FiguresPart
from copilot_admin.analytics.periods import FiguresPeriod, Resolution, Span
from copilot_admin.models import Outcome

P50, P95 = 0.5, 0.95
OUTCOMES = tuple(one for one in Outcome if one is not Outcome.RUNNING)
Link = Callable[..., str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FiguresTable:
    """Rows of figures; the first cell of a row names it."""

    columns: Sequence[str]
    rows: Sequence[Sequence[FigureCell]]

    @property
    def body(self) -> SafeString:
        """The rows of the table as HTML, for the page that shows it."""
        return body_of(self.rows)


def time_name(span: Span, *, is_hourly: bool) -> str:
    """An hour or a day, as a row and an axis name it."""
    return f"{span.first:%H}:00" if is_hourly else f"{span.first:%Y-%m-%d}"


def time_column(period: FiguresPeriod) -> str:
    """What the steps of a period are, as a column and an axis say it."""
    match period.resolution:
        case Resolution.HOUR:
            return _("Hour (UTC)")
        case Resolution.DAY:
            return _("Day (UTC)")
    return _("Week from (UTC)")


def _by_time(
    figures: Figures,
    scope: FiguresScope,
    columns: Sequence[str],
    cells: Callable[[Span, Counts, Link], list[FigureCell]],
) -> FiguresTable:
    is_hourly = figures.period.is_hourly
    rows = []
    for span, counts in figures.series:

        def link(what: str, *, of: Span = span, detail: str = "") -> str:
            return scope.link(what, of, detail=detail)

        name = time_name(span, is_hourly=is_hourly)
        raw = f"{span.first:%Y-%m-%dT%H:00Z}" if is_hourly else name
        rows.append([FigureCell(text=name, raw=raw, is_number=False), *cells(span, counts, link)])
    return FiguresTable(columns=[time_column(figures.period), *columns], rows=rows)


def use_table(figures: Figures, scope: FiguresScope) -> FiguresTable:
    """Questions, conversations and, of days and weeks, people."""
    with_people = not figures.period.is_hourly

    def cells(span: Span, counts: Counts, link: Link) -> list[FigureCell]:
        found = [
            number(counts["questions"], link("questions")),
            number(counts["conversations"], link("conversations")),
        ]
        if with_people:
            found.append(number(figures.people_of.get(span.first.date(), 0), link("questions")))
        return found

    columns = [_("Questions"), _("Conversations"), *([_("People")] if with_people else [])]
    return _by_time(figures, scope, columns, cells)


def outcome_table(figures: Figures, scope: FiguresScope) -> FiguresTable:
    """The table of how requests ended."""

    def cells(_span: Span, counts: Counts, link: Link) -> list[FigureCell]:
        ends = [number(counts[one.value], _behind(one, link)) for one in OUTCOMES]
        return [number(counts["runs"], link("requests")), *ends]

    columns = [_("Requests"), *(str(one.label) for one in OUTCOMES)]
    return _by_time(figures, scope, columns, cells)


def _behind(outcome: Outcome, link: Link) -> str:
    return "" if outcome is Outcome.REFUSED else link(outcome.value)


def speed_table(figures: Figures, scope: FiguresScope) -> FiguresTable:
    """Times to the first token."""

    def cells(_span: Span, counts: Counts, link: Link) -> list[FigureCell]:
        return list(first_tokens(counts, link))

    return _by_time(figures, scope, ["p50", "p95"], cells)


def first_tokens(counts: Counts, link: Link) -> Iterator[FigureCell]:
    """The middle time, and that of the slow ones; each leads to what was slower."""
    for part in (P50, P95):
        found = counts.first_token(part)
        yield time_to(found, link("slower", detail=str(found.above)) if found else "")


def liked_table(figures: Figures, scope: FiguresScope) -> FiguresTable:
    """Thumbs of users, and ratings of reviewers."""
    names = ("up", "down", "good", "mixed", "bad")

    def cells(_span: Span, counts: Counts, link: Link) -> list[FigureCell]:
        return [number(counts[name], link(name)) for name in names]

    columns = [_("Thumbs up"), _("Thumbs down"), _("Good"), _("Mixed"), _("Bad")]
    return _by_time(figures, scope, columns, cells)


def cost_table(figures: Figures, scope: FiguresScope) -> FiguresTable:
    """Known cost, requests of unknown cost, tokens."""

    def cells(_span: Span, counts: Counts, link: Link) -> list[FigureCell]:
        return [
            cost(counts["cost"], counts["unpriced"], link("priced")),
            number(counts["unpriced"], link("unpriced")),
            number(counts["tokens"], link("requests")),
        ]

    columns = [_("Known cost (USD)"), _("Requests of unknown cost"), _("Tokens")]
    return _by_time(figures, scope, columns, cells)


def error_table(figures: Figures, scope: FiguresScope) -> FiguresTable:
    """Kinds of errors, the most frequent first."""
    now, before = figures.period.now, figures.period.before
    rows = [
        [
            words(code, scope.link("error", now, detail=code)),
            number(times, scope.link("error", now, detail=code)),
            number(times_before, scope.link("error", before, detail=code)),
        ]
        for code, times, times_before in figures.errors
    ]
    return FiguresTable(columns=[_("Kind of error"), _("Requests"), _("Before")], rows=rows)


def mark_table(figures: Figures, scope: FiguresScope) -> FiguresTable:
    """Labels and scores that reviewers gave."""
    now, before = figures.period.now, figures.period.before
    rows = []
    for one in figures.marks:
        key, is_score = str(one.criterion.pk), one.criterion.kind == "score"
        mean = round(one.total / one.number, 2) if is_score and one.number else None
        rows.append(
            [
                words(one.criterion.name, scope.link("label", now, detail=key)),
                number(one.number, scope.link("label", now, detail=key)),
                FigureCell(text="–" if mean is None else str(mean), raw=mean),  # noqa: RUF001  # a dash
                number(one.before, scope.link("label", before, detail=key)),
            ]
        )
    columns = [_("Label or score"), _("Given"), _("Mean score"), _("Given before")]
    return FiguresTable(columns=columns, rows=rows)


def part_columns() -> list[str]:
    """What is said of a model or version."""
    return [
        _("Questions"),
        _("Requests"),
        _("Errors"),
        _("Error share"),
        "p50",
        "p95",
        _("Thumbs up"),
        _("Thumbs down"),
        _("Known cost (USD)"),
        _("Unknown cost"),
        _("Tokens"),
    ]


def _part_cells(counts: Counts, link: Link) -> list[FigureCell]:
    return [
        number(counts["questions"], link("questions")),
        number(counts["runs"], link("requests")),
        number(counts["errors"], link("errors")),
        share(counts.failed, link("errors") if counts["errors"] else ""),
        *first_tokens(counts, link),
        number(counts["up"], link("up")),
        number(counts["down"], link("down")),
        cost(counts["cost"], counts["unpriced"], link("priced")),
        number(counts["unpriced"], link("unpriced")),
        number(counts["tokens"], link("requests")),
    ]


def model_table(figures: Figures, scope: FiguresScope, most: int) -> FiguresTable:
    """What was counted of the models that were asked most."""

    def row(part: FiguresPart) -> list[FigureCell]:
        def link(what: str, detail: str = "") -> str:
            return scope.link(what, figures.period.now, detail=detail, model=part.model)

        return [words(part.model, link("requests")), *_part_cells(part.counts, link)]

    return FiguresTable(
        columns=[_("Model"), *part_columns()], rows=[row(one) for one in figures.models[:most]]
    )


def version_table(figures: Figures, scope: FiguresScope, most: int) -> FiguresTable:
    """What was counted of the versions of copilots that were asked most."""

    def row(part: FiguresPart) -> list[FigureCell]:
        def link(what: str, detail: str = "") -> str:
            return scope.link(
                what,
                figures.period.now,
                detail=detail,
                copilot=part.copilot,
                version=part.version,
            )

        name = part.copilot.name if part.copilot else ""
        version = f"v{part.version}" if part.version else _("none")
        return [
            words(name, link("requests")),
            words(version, link("requests")),
            *_part_cells(part.counts, link),
        ]

    columns = [_("Copilot"), _("Version"), *part_columns()]
    return FiguresTable(columns=columns, rows=[row(one) for one in figures.versions[:most]])
