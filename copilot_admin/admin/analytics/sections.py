"""The parts of the page of figures: is it used, does it work, is it liked, what does it cost."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from copilot_admin.admin.analytics import tables
from copilot_admin.admin.analytics.cells import (
    NONE,
    FigureCell,
    FigureTile,
    change,
    change_of_share,
    cost,
    number,
    share,
    time_to,
)
from copilot_admin.admin.analytics.exhibits import Exhibit, along, chart_along, speed_chart
from copilot_admin.admin.analytics.scope import FiguresScope
from copilot_admin.admin.analytics.tables import OUTCOMES, P50, P95
from copilot_admin.analytics.figures import Counts, Figures, FiguresPart
from copilot_admin.analytics.first_token import PER_CENT
from copilot_admin.models import Outcome

MOST_SHOWN = 50  # models and versions of the page; its files have all that are read


@dataclass(frozen=True, slots=True, kw_only=True)
class FiguresSection:
    """One question about the copilots, and its answer."""

    key: str
    title: str
    tiles: Sequence[FigureTile]
    exhibits: Sequence[Exhibit] = field(default_factory=tuple)


def sections_of(
    figures: Figures, scope: FiguresScope, *, most: int = MOST_SHOWN
) -> list[FiguresSection]:
    """All parts of the page; `most` models and versions are in their tables."""
    return [
        _used(figures, scope),
        _works(figures, scope),
        _liked(figures, scope),
        _costs(figures, scope),
        _compared(figures, scope, most),
    ]


def _counted(
    label: str, name: str, figures: Figures, scope: FiguresScope, *, behind: str = ""
) -> FigureTile:
    now, before = figures.now[name], figures.before[name]
    what = behind or name
    return FigureTile(
        label=label,
        cell=number(now, scope.link(what, figures.period.now)),
        before=number(before).text,
        before_url=scope.link(what, figures.period.before) if before else "",
        change=change(now, before),
    )


def _used(figures: Figures, scope: FiguresScope) -> FiguresSection:
    now, before = figures.period.now, figures.period.before
    people = FigureTile(
        label=_("People"),
        cell=number(figures.people, scope.link("questions", now)),
        before=number(figures.people_before).text,
        before_url=scope.link("questions", before) if figures.people_before else "",
        change=change(figures.people, figures.people_before),
        hint=_("Users by name; who is not named counts by his key, all without one as one."),
    )
    questions, conversations = _("Questions"), _("Conversations")
    chart = chart_along(
        figures,
        "bar",
        {
            questions: along(figures, "questions"),
            conversations: along(figures, "conversations"),
        },
    )
    exhibit = Exhibit(
        key="use",
        title=_("Questions and conversations"),
        table=tables.use_table(figures, scope),
        is_folded=True,
        chart=chart,
    )
    tiles = [
        _counted(conversations, "conversations", figures, scope),
        _counted(questions, "questions", figures, scope),
        people,
    ]
    return FiguresSection(key="used", title=_("Is it used?"), tiles=tiles, exhibits=[exhibit])


def _works(figures: Figures, scope: FiguresScope) -> FiguresSection:
    failed = FigureTile(
        label=_("Requests that failed"),
        cell=share(figures.now.failed, scope.link("errors", figures.period.now)),
        before=share(figures.before.failed).text,
        before_url=scope.link("errors", figures.period.before) if figures.before["errors"] else "",
        change=change_of_share(figures.now.failed, figures.before.failed),
        hint=_("Failed, crashed or interrupted, of all requests."),
    )
    tiles = [
        failed,
        _first_token(_("First token, p50"), P50, figures, scope),
        _first_token(_("First token, p95"), P95, figures, scope),
        *(
            _outcome(one, figures, scope)
            for one in OUTCOMES
            if figures.now[one.value] or figures.before[one.value]
        ),
    ]
    exhibits = [
        _outcomes(figures, scope),
        Exhibit(
            key="first-token",
            title=_("Time to the first token"),
            table=tables.speed_table(figures, scope),
            is_folded=True,
            chart=speed_chart(figures),
            note=_("Counted in steps: a time is at most %(share)s %% away from the true one.")
            % {"share": PER_CENT},
        ),
        Exhibit(key="errors", title=_("Errors by kind"), table=tables.error_table(figures, scope)),
    ]
    return FiguresSection(key="works", title=_("Does it work?"), tiles=tiles, exhibits=exhibits)


def _outcomes(figures: Figures, scope: FiguresScope) -> Exhibit:
    return Exhibit(
        key="outcomes",
        title=_("How requests ended"),
        table=tables.outcome_table(figures, scope),
        is_folded=True,
        chart=chart_along(
            figures,
            "bar",
            {
                _("Errors"): along(figures, "errors"),
                _("Cancelled"): along(figures, "cancelled"),
                _("Truncated"): along(figures, "truncated"),
            },
        ),
        note=_("Refused requests have no transcript."),
    )


def _outcome(outcome: Outcome, figures: Figures, scope: FiguresScope) -> FigureTile:
    tile = _counted(str(outcome.label), outcome.value, figures, scope)
    if outcome is not Outcome.REFUSED:
        return tile
    return FigureTile(
        label=tile.label,
        cell=number(figures.now[outcome.value]),
        before=tile.before,
        change=tile.change,
        hint=_("A limit was reached; there is no transcript."),
    )


def _first_token(label: str, part: float, figures: Figures, scope: FiguresScope) -> FigureTile:
    now, before = figures.now.first_token(part), figures.before.first_token(part)

    def link(counts: Counts, at: object) -> str:
        found = counts.first_token(part)
        span = figures.period.now if at == "now" else figures.period.before
        return scope.link("slower", span, detail=str(found.above)) if found else ""

    return FigureTile(
        label=label,
        cell=time_to(now, link(figures.now, "now")),
        before=time_to(before).text,
        before_url=link(figures.before, "before"),
        change=change(now.ms, before.ms) if now and before else "",
    )


def _liked(figures: Figures, scope: FiguresScope) -> FiguresSection:
    now, before = figures.now, figures.before
    tiles = [
        FigureTile(
            label=_("Thumbs that are up"),
            cell=share(now.liked, scope.link("up", figures.period.now) if now["up"] else ""),
            before=share(before.liked).text,
            before_url=scope.link("up", figures.period.before) if before["up"] else "",
            change=change_of_share(now.liked, before.liked),
        ),
        _counted(_("Thumbs up"), "up", figures, scope),
        _counted(_("Thumbs down"), "down", figures, scope),
        _counted(_("Verdicts: good"), "good", figures, scope),
        _counted(_("Verdicts: mixed"), "mixed", figures, scope),
        _counted(_("Verdicts: bad"), "bad", figures, scope),
    ]
    marks = tables.mark_table(figures, scope)
    thumbs = chart_along(
        figures,
        "bar",
        {_("Thumbs up"): along(figures, "up"), _("Thumbs down"): along(figures, "down")},
    )
    exhibits = [
        Exhibit(
            key="liked",
            title=_("Thumbs and verdicts"),
            table=tables.liked_table(figures, scope),
            is_folded=True,
            chart=thumbs,
            note=_("They count when the question was asked, however late they are given."),
        ),
        Exhibit(key="labels", title=_("Labels and scores"), table=marks),
    ]
    return FiguresSection(key="liked", title=_("Is it liked?"), tiles=tiles, exhibits=exhibits)


def _costs(figures: Figures, scope: FiguresScope) -> FiguresSection:
    now, before = figures.now, figures.before
    tiles = [
        FigureTile(
            label=_("Known cost"),
            cell=cost(now["cost"], now["unpriced"], scope.link("priced", figures.period.now)),
            before=cost(before["cost"], before["unpriced"]).text,
            before_url=scope.link("priced", figures.period.before) if before["cost"] else "",
            change=change(
                cost(now["cost"], now["unpriced"]).raw, cost(before["cost"], before["unpriced"]).raw
            ),
        ),
        _counted(_("Requests of unknown cost"), "unpriced", figures, scope),
        FigureTile(
            label=_("Known cost of a question"),
            cell=_mean_cost(now, scope.link("priced", figures.period.now)),
            before=_mean_cost(before, "").text,
            before_url=scope.link("priced", figures.period.before) if before["cost"] else "",
            change=change(_mean_cost(now, "").raw, _mean_cost(before, "").raw),
        ),
        _counted(_("Tokens"), "tokens", figures, scope, behind="requests"),
    ]
    exhibit = Exhibit(
        key="cost",
        title=_("Known cost"),
        table=tables.cost_table(figures, scope),
        is_folded=True,
        chart=chart_along(figures, "bar", {_("Known cost (USD)"): along(figures, "cost")}),
    )
    return FiguresSection(
        key="costs", title=_("What does it cost?"), tiles=tiles, exhibits=[exhibit]
    )


def _mean_cost(counts: Counts, url: str) -> FigureCell:
    if not counts["questions"]:
        return FigureCell(text=NONE, raw=None)
    return cost(counts["cost"] / counts["questions"], counts["unpriced"], url)


def _compared(figures: Figures, scope: FiguresScope, most: int) -> FiguresSection:
    def note(parts: Sequence[FiguresPart]) -> str:
        if len(parts) <= most:
            return _("Those that were asked most come first.")
        said = _("The %(most)d that were asked most; the file has %(number)d.")
        return said % {"most": most, "number": len(parts)}

    exhibits = [
        Exhibit(
            key="models",
            title=_("By model"),
            table=tables.model_table(figures, scope, most),
            is_wide=True,
            note=note(figures.models),
        ),
        Exhibit(
            key="versions",
            title=_("By version"),
            table=tables.version_table(figures, scope, most),
            is_wide=True,
            note=note(figures.versions),
        ),
    ]
    return FiguresSection(key="compared", title=_("Which do best?"), tiles=[], exhibits=exhibits)
