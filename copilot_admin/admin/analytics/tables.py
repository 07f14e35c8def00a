"""Tables of the analytics page: by copilot, version, model, user, widget, tool and label."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
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
CALLER_METRICS = {one.key for one in TABLE_METRICS} - {"users", "p50", "p95"}
PAGE_METRICS = [one for one in TABLE_METRICS if one is not P95]

# `name`, `cells`, and for some tables `note`, `url`, `share` (a meter), `copilot` and `image`.
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    columns: Sequence[str | Promise]
    rows: Sequence[Row]

    @property
    def has_share(self) -> bool:
        return any("share" in row for row in self.rows)

    def shown(self) -> Sequence[Row]:
        return self.rows[:MAX_SHOWN]

    def file(self) -> list[list[Any]]:
        head = [_("Name"), _("Details"), *map(str, self.columns)]
        return [
            head,
            *(
                [row["name"], row.get("note", ""), *(cell["raw"] for cell in row["cells"])]
                for row in self.rows
            ),
        ]


@dataclass(frozen=True, slots=True)
class TableCard:
    """A table of the page; a lazy one is loaded after the page."""

    key: str
    title: str | Promise
    build: Callable[[Report, Sequence[Metric]], Table]
    is_lazy: bool = True
    of_users: bool = False  # can be counted for single users
    empty: str | Promise = NOTHING


def _table(metrics: Sequence[Metric], rows: Sequence[Row]) -> Table:
    return Table([one.short or one.label for one in metrics], rows)


def _row(
    report: Report,
    metrics: Sequence[Metric],
    name: str,
    counts: Counts,
    filters: Mapping[str, str] | None,
    **more: Any,
) -> Row:
    """Return a row; `filters` lead to its conversations, None to none."""
    cells = []
    for metric in metrics:
        value, url = metric.aggregate(counts), ""
        if value and filters is not None and metric.filters is not None:
            url = report.scope.conversations_url({**filters, **metric.filters})
        text, is_bad = format_value(metric.unit, value), metric.is_bad(value)
        cells.append({"text": text, "raw": value, "url": url, "is_bad": is_bad})
    return {"name": name, "cells": cells, **more}


def _number_cell(number: float, url: str = "") -> Row:
    return {"text": format_value(Unit.NUMBER, number), "raw": number, "url": url}


def _ranked(found: Mapping[Any, Counts]) -> list[tuple[Any, Counts]]:
    active = ((key, counts) for key, counts in found.items() if counts["runs"])
    return sorted(active, key=lambda row: (-row[1]["questions"], str(row[0])))


def by_copilot(report: Report, metrics: Sequence[Metric]) -> Table:
    span = report.period.now
    found, users = report.source.groups(span, "copilot_id"), report.source.users_by_copilot(span)
    copilots = Copilot.objects.in_bulk([pk for (pk,) in found])
    rows = []
    for (pk,), counts in _ranked(found):
        if copilot := copilots.get(pk):
            filters = {"copilot": copilot.slug}
            more: Row = {"copilot": copilot, "image": image_url(copilot)}
            more["url"] = report.scope.query(copilot=str(pk))
            counts = counts.with_users(users.get(pk))
            rows.append(_row(report, metrics, copilot.name, counts, filters, **more))
    return _table(metrics, rows)


def by_version(report: Report, metrics: Sequence[Metric]) -> Table:
    metrics = [one for one in metrics if one is not USERS]
    found = report.source.groups(report.period.now, "copilot_id", "version")
    copilots = Copilot.objects.select_related("live").in_bulk([pk for pk, _version in found])
    rows = []
    for (pk, version), counts in _ranked(found):
        copilot = copilots.get(pk)
        name = f"v{version}" if version else _("No version")
        if not report.scope.copilot:
            name = f"{copilot.name if copilot else pk} {name}"
        is_live = copilot and copilot.live and copilot.live.number == version
        filters = {"copilot": copilot.slug if copilot else str(pk), "version": str(version)}
        more = {"note": _("live") if is_live else "", "url": report.scope.query(**filters)}
        rows.append(_row(report, metrics, name, counts, filters if version else None, **more))
    return _table(metrics, rows)


def by_model(report: Report, metrics: Sequence[Metric]) -> Table:
    metrics = [one for one in metrics if one is not USERS]
    found = report.source.groups(report.period.now, "model")
    total = float(add_counts(found.values())["questions"]) or 1
    rows = []
    for place, ((model,), counts) in enumerate(_ranked(found)):
        color = f"ca-meter--xs ca-s{place % N_COLORS + 1}"
        more: Row = {"share": meter(float(counts["questions"]) / total, color)}
        more["url"] = report.scope.query(model=model) if model else ""
        filters = {"model": model} if model else None
        rows.append(_row(report, metrics, model or _("No model"), counts, filters, **more))
    return _table(metrics, rows)


def by_user(report: Report, metrics: Sequence[Metric]) -> Table:
    metrics = [one for one in metrics if one.key in CALLER_METRICS]
    callers = [
        (*principal.partition(":")[::2], counts)
        for principal, counts in load_callers(report.scope.traffic, report.period.now)
    ]
    users = EndUser.objects.in_bulk([int(pk) for kind, pk, _counts in callers if kind == "user"])
    ids = [pk for kind, pk, _counts in callers if kind == "key"]
    keys = dict(EndpointKey.objects.filter(pk__in=ids).values_list("pk", "name"))
    rows = []
    for kind, pk, counts in callers:
        name, more = _("Unnamed callers without a key"), {}
        filters: dict[str, str] | None = {"caller": f"{kind}:{pk}" if pk else kind}
        if kind == "user" and (user := users.get(int(pk))):
            filters = {"user": user.identifier}
            name, more = str(user), {"url": report.scope.query(**filters)}
        elif kind == "user":
            name, filters = _("Deleted user"), None
        elif kind == "key":
            name, more = keys.get(int(pk), _("Deleted key")), {"note": _("API key")}
        rows.append(_row(report, metrics, name, counts, filters, **more))
    return _table(metrics, rows)


def _by_tool(*kinds: ToolKind) -> Callable[[Report, Sequence[Metric]], Table]:
    def build(report: Report, _metrics: Sequence[Metric]) -> Table:
        found = load_tools(report.scope.traffic, report.period.now, kinds)
        highest = max((number for _kind, _name, number in found), default=1)
        rows = [
            {
                "name": name,
                "note": str(ToolKind(kind).label) if len(kinds) > 1 else "",
                "cells": [_number_cell(number)],
                "share": meter(number / highest, "ca-meter--xs ca-s1"),
            }
            for kind, name, number in found
        ]
        return Table([_("Calls")], rows)

    return build


def by_label(report: Report, _metrics: Sequence[Metric]) -> Table:
    rows = []
    for criterion, number, total in load_marks(report.scope.traffic, report.period.now):
        is_score = criterion.kind == CriterionKind.SCORE
        mean = round(total / number, 2) if is_score else None
        url = report.scope.conversations_url({"label": str(criterion.pk)})
        mean_cell = {"text": "" if mean is None else f"{mean:g}", "raw": mean}
        rows.append({"name": criterion.name, "cells": [_number_cell(number, url), mean_cell]})
    return Table([_("Given"), _("Mean score")], rows)


TABLES: Sequence[TableCard] = (
    TableCard("copilots", gettext_lazy("By copilot"), by_copilot, is_lazy=False, of_users=True),
    TableCard("models", gettext_lazy("By model"), by_model, is_lazy=False, of_users=True),
    TableCard("versions", gettext_lazy("By version"), by_version, of_users=True),
    TableCard("users", gettext_lazy("By user"), by_user),
    TableCard(
        "widgets",
        gettext_lazy("Most used widgets"),
        _by_tool(ToolKind.WIDGET),
        empty=gettext_lazy("No widget data was used in this period."),
    ),
    TableCard(
        "tools",
        gettext_lazy("Most used tools"),
        _by_tool(ToolKind.CLIENT, ToolKind.SERVER),
        empty=gettext_lazy("No tool was called in this period."),
    ),
    TableCard(
        "labels",
        gettext_lazy("Labels and scores"),
        by_label,
        empty=gettext_lazy("Reviewers gave no labels or scores in this period."),
    ),
)
