"""Tables of the analytics page: by copilot, version, model, user, widget, tool and label."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.analytics.cards import NOTHING, Report
from copilot_admin.admin.analytics.charts import N_COLORS, meter
from copilot_admin.admin.analytics.formats import format_value
from copilot_admin.admin.copilots.header import image_url
from copilot_admin.analytics.metrics import (
    P95,
    TABLE_METRICS,
    USERS,
    Counts,
    Metric,
    Unit,
    add_counts,
)
from copilot_admin.analytics.rollups import load_callers, load_marks, load_tools
from copilot_admin.models import Copilot, CriterionKind, EndpointKey, EndUser, ToolKind

MAX_SHOWN = 10  # rows of the page; files have all


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    text: str
    raw: Any
    url: str = ""
    is_bad: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row; `share` is a meter, `copilot` has a picture."""

    name: str
    note: str = ""
    url: str = ""
    cells: Sequence[Cell] = ()
    share: SafeString | str = ""
    copilot: Copilot | None = None
    image: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    columns: Sequence[str | Promise]
    rows: Sequence[Row]
    has_share: bool = False

    def shown(self) -> Sequence[Row]:
        return self.rows[:MAX_SHOWN]

    def file(self) -> list[list[Any]]:
        """Return the rows of a file, the names of columns first."""
        head = [_("Name"), _("Details"), *map(str, self.columns)]
        return [head, *([row.name, row.note, *(one.raw for one in row.cells)] for row in self.rows)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCard:
    """A table of the page; a lazy one is loaded after the page."""

    key: str
    title: str | Promise
    build: Callable[[Report, Sequence[Metric]], Table]
    is_lazy: bool = False
    of_users: bool = True  # can be counted for single users
    empty: str | Promise = NOTHING


def _cells(
    report: Report, counts: Counts, metrics: Sequence[Metric], filters: Mapping[str, str] | None
) -> list[Cell]:
    """Return the values of a row; `filters` lead to its conversations, None to none."""
    cells = []
    for metric in metrics:
        value = metric.aggregate(counts)
        url = ""
        if value and filters is not None and metric.filters is not None:
            url = report.scope.conversations_url({**filters, **metric.filters})
        cells.append(
            Cell(
                text=format_value(metric.unit, value),
                raw=value,
                url=url,
                is_bad=metric.is_bad(value),
            )
        )
    return cells


def _ranked(found: Mapping[Any, Counts]) -> list[tuple[Any, Counts]]:
    asked = ((key, counts) for key, counts in found.items() if counts["runs"])
    return sorted(asked, key=lambda row: (-row[1]["questions"], str(row[0])))


def by_copilot(report: Report, metrics: Sequence[Metric]) -> Table:
    span = report.period.now
    found = {key[0]: one for key, one in report.source.groups(span, "copilot_id").items()}
    users = report.source.users_by_copilot(span)
    copilots = Copilot.objects.in_bulk(list(found))
    rows = []
    for pk, counts in _ranked(found):
        if copilot := copilots.get(pk):
            cells = _cells(report, counts.with_users(users.get(pk)), metrics, {"copilot": str(pk)})
            rows.append(
                Row(
                    name=copilot.name,
                    url=report.scope.query(copilot=str(pk)),
                    cells=cells,
                    copilot=copilot,
                    image=image_url(copilot),
                )
            )
    return Table(columns=[one.short or one.label for one in metrics], rows=rows)


def by_version(report: Report, metrics: Sequence[Metric]) -> Table:
    metrics = [one for one in metrics if one is not USERS]
    found = report.source.groups(report.period.now, "copilot_id", "version")
    copilots = Copilot.objects.select_related("live").in_bulk([key[0] for key in found])
    rows = []
    for (pk, version), counts in _ranked(found):
        copilot = copilots.get(pk)
        name = f"v{version}" if version else _("No version")
        is_live = copilot and copilot.live and copilot.live.number == version
        filters = {"copilot": str(pk), "version": str(version)} if version else None
        rows.append(
            Row(
                name=name if report.scope.copilot else f"{copilot.name if copilot else pk} {name}",
                note=_("live") if is_live else "",
                url=report.scope.query(copilot=str(pk), version=str(version)),
                cells=_cells(report, counts, metrics, filters),
            )
        )
    return Table(columns=[one.short or one.label for one in metrics], rows=rows)


def by_model(report: Report, metrics: Sequence[Metric]) -> Table:
    metrics = [one for one in metrics if one is not USERS]
    found = {key[0]: one for key, one in report.source.groups(report.period.now, "model").items()}
    total = float(add_counts(found.values())["questions"]) or 1
    rows = [
        Row(
            name=model or _("No model"),
            url=report.scope.query(model=model) if model else "",
            cells=_cells(report, counts, metrics, {"model": model} if model else None),
            share=meter(
                float(counts["questions"]) / total, f"ca-meter--xs ca-s{place % N_COLORS + 1}"
            ),
        )
        for place, (model, counts) in enumerate(_ranked(found))
    ]
    return Table(columns=[one.short or one.label for one in metrics], rows=rows, has_share=True)


def by_user(report: Report, metrics: Sequence[Metric]) -> Table:
    metrics = [one for one in metrics if one.key in CALLER_METRICS]
    found = load_callers(report.scope.traffic, report.period.now)
    ids = {int(name[5:]) for name, _counts in found if name.startswith("user:")}
    keys = {int(name[4:]) for name, _counts in found if name.startswith("key:")}
    users = EndUser.objects.in_bulk(ids)
    names = dict(EndpointKey.objects.filter(pk__in=keys).values_list("pk", "name"))
    rows = []
    for principal, counts in found:
        kind, _sep, number = principal.partition(":")
        user = users.get(int(number)) if kind == "user" else None
        name, note = _("Unnamed callers without a key"), ""
        filters: dict[str, str] | None = {"caller": principal}
        if kind == "user":
            name = str(user) if user else _("Deleted user")
            filters = {"user": user.identifier} if user else None
        elif kind == "key":
            name, note = names.get(int(number), _("Deleted key")), _("API key")
        rows.append(
            Row(
                name=name,
                note=note,
                url=report.scope.query(user=user.identifier) if user else "",
                cells=_cells(report, counts, metrics, filters),
            )
        )
    return Table(columns=[one.short or one.label for one in metrics], rows=rows)


def _by_tool(*kinds: ToolKind) -> Callable[[Report, Sequence[Metric]], Table]:
    def build(report: Report, _metrics: Sequence[Metric]) -> Table:
        found = load_tools(report.scope.traffic, report.period.now, kinds)
        highest = max((number for _kind, _name, number in found), default=1)
        rows = [
            Row(
                name=name,
                note=str(ToolKind(kind).label) if len(kinds) > 1 else "",
                cells=[Cell(text=format_value(Unit.NUMBER, number), raw=number)],
                share=meter(number / highest, "ca-meter--xs ca-s1"),
            )
            for kind, name, number in found
        ]
        return Table(columns=[_("Calls")], rows=rows, has_share=True)

    return build


def by_label(report: Report, _metrics: Sequence[Metric]) -> Table:
    rows = []
    for criterion, number, total in load_marks(report.scope.traffic, report.period.now):
        is_score = criterion.kind == CriterionKind.SCORE
        mean = round(total / number, 2) if is_score else None
        rows.append(
            Row(
                name=criterion.name,
                cells=[
                    Cell(
                        text=format_value(Unit.NUMBER, number),
                        raw=number,
                        url=report.scope.conversations_url({"label": str(criterion.pk)}),
                    ),
                    Cell(text="" if mean is None else f"{mean:g}", raw=mean),
                ],
            )
        )
    return Table(columns=[_("Given"), _("Mean score")], rows=rows)


CALLER_METRICS = {one.key for one in TABLE_METRICS} - {"users", "p50", "p95"}
PAGE_METRICS = [one for one in TABLE_METRICS if one is not P95]
TABLES: Sequence[TableCard] = (
    TableCard(key="copilots", title=gettext_lazy("By copilot"), build=by_copilot),
    TableCard(key="models", title=gettext_lazy("By model"), build=by_model),
    TableCard(key="versions", title=gettext_lazy("By version"), build=by_version, is_lazy=True),
    TableCard(
        key="users",
        title=gettext_lazy("By user"),
        build=by_user,
        is_lazy=True,
        of_users=False,
    ),
    TableCard(
        key="widgets",
        title=gettext_lazy("Most used widgets"),
        build=_by_tool(ToolKind.WIDGET),
        is_lazy=True,
        of_users=False,
        empty=gettext_lazy("No widget data was used in this period."),
    ),
    TableCard(
        key="tools",
        title=gettext_lazy("Most used tools"),
        build=_by_tool(ToolKind.CLIENT, ToolKind.SERVER),
        is_lazy=True,
        of_users=False,
        empty=gettext_lazy("No tool was called in this period."),
    ),
    TableCard(
        key="labels",
        title=gettext_lazy("Labels and scores"),
        build=by_label,
        is_lazy=True,
        of_users=False,
        empty=gettext_lazy("Reviewers gave no labels or scores in this period."),
    ),
)
