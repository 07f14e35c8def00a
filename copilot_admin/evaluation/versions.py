"""Versions of a copilot with their changes and usage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from django.db.models import Count, Q, QuerySet, Sum

from copilot_admin.copilots.comparison import find_changes
from copilot_admin.copilots.publishing import document_today
from copilot_admin.evaluation.differences import in_a_line
from copilot_admin.models import Copilot, CopilotVersion, DailyTotal, Feedback, FeedbackSource, Run
from copilot_admin.models.conversations import PLAYGROUND

PAGE = 25  # versions; each is compared with the previous one

Counts: TypeAlias = Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFigures:
    """Usage of a version: conversations, thumbs of users, failed requests."""

    conversations: int = 0
    up: int = 0
    down: int = 0
    errors: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRow:
    """A version in the list; `changed` names the fields that differ from the previous one."""

    version: CopilotVersion
    is_live: bool
    is_first: bool
    changed: str
    figures: VersionFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionPage:
    """A page of versions, newest first; `older` is the start of the next page."""

    rows: tuple[VersionRow, ...]
    older: int | None


def version_page(copilot: Copilot, *, below: int | None = None) -> VersionPage:
    """Load a page of versions.

    Args:
        copilot: The copilot.
        below: Only versions with a lower number; None to start at the newest.
    """
    found = _with_providers(copilot).order_by("-number")
    if below is not None:
        found = found.filter(number__lt=below)
    read = list(found[: PAGE + 1])
    shown = read[:PAGE]
    figures = figures_of(copilot, shown)
    rows = tuple(
        VersionRow(
            version=version,
            is_live=version.pk == copilot.live_id,
            is_first=before is None,
            changed=_changed(before, version) if before else "",
            figures=figures[version.pk],
        )
        for version, before in zip(shown, [*read[1:], None], strict=False)
    )
    return VersionPage(rows=rows, older=shown[-1].number if len(read) > PAGE else None)


def version_of(copilot: Copilot, number: int) -> CopilotVersion | None:
    """Return the version with this number, or None."""
    return _with_providers(copilot).filter(number=number).first()


def figures_of(
    copilot: Copilot, versions: Sequence[CopilotVersion]
) -> Mapping[int, VersionFigures]:
    """Return the usage of versions by id, in a constant number of queries."""
    ids = [version.pk for version in versions]
    asked = Run.objects.filter(copilot_version__in=ids).order_by()
    asked = asked.exclude(principal__startswith=PLAYGROUND)  # builders' tests of the connection
    conversations: Counts = dict(
        asked.values_list("copilot_version").annotate(Count("conversation", distinct=True))
    )
    up, down = _thumbs(ids)
    failed = DailyTotal.objects.filter(
        copilot=copilot, version__in=[version.number for version in versions]
    )
    errors: Counts = dict(failed.order_by().values_list("version").annotate(Sum("errors")))
    return {
        version.pk: VersionFigures(
            conversations=conversations.get(version.pk, 0),
            up=up.get(version.pk, 0),
            down=down.get(version.pk, 0),
            errors=errors.get(version.number, 0),
        )
        for version in versions
    }


def _thumbs(ids: Sequence[int]) -> tuple[Counts, Counts]:
    rows = (
        Feedback.objects.filter(source=FeedbackSource.END_USER, turn__runs__copilot_version__in=ids)
        .exclude(turn__conversation__principal__startswith=PLAYGROUND)
        .order_by()
        .values_list("turn__runs__copilot_version")
        .annotate(
            up=Count("id", filter=Q(value__gt=0), distinct=True),
            down=Count("id", filter=Q(value__lt=0), distinct=True),
        )
    )
    found = list(rows)
    return {row[0]: row[1] for row in found}, {row[0]: row[2] for row in found}


def _with_providers(copilot: Copilot) -> QuerySet[CopilotVersion]:
    return copilot.versions.select_related("provider", "published_by")


def _changed(before: CopilotVersion, version: CopilotVersion) -> str:
    return in_a_line(find_changes(document_today(before), document_today(version)))
