"""The providers that the controls of a copilot let answer instead of its own."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from django.db.models.functions import Lower

from copilot_admin.models import Copilot, CopilotVersion, Provider, VersionProvider

Row: TypeAlias = Mapping[str, Any]


def named_in(rows: Iterable[Row]) -> tuple[str, ...]:
    """The names of the other providers in the controls of a draft or a version."""
    names = (row.get("provider") for row in rows)
    return tuple(dict.fromkeys(str(name) for name in names if name))


def found_by(names: Iterable[str]) -> Mapping[str, Provider]:
    """Those of some providers that there are, by the names that were asked for."""
    wanted = {name.lower(): name for name in names}
    if not wanted:
        return {}
    rows = Provider.objects.annotate(lower=Lower("name")).filter(lower__in=wanted)
    return {wanted[row.name.lower()]: row for row in rows}


def missing(names: Iterable[str]) -> Iterator[str]:
    """Of some names those that no provider has."""
    wanted = tuple(names)
    there = found_by(wanted)
    return (name for name in wanted if name not in there)


def renamed(rows: Sequence[Row], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """The controls with the names that their providers have now."""
    return [
        {**row, "provider": names[row["provider"]]} if row.get("provider") in names else {**row}
        for row in rows
    ]


def up_to_date(version: CopilotVersion) -> Sequence[Row]:
    """The controls of a version, with the names that their providers have now."""
    rows = cast("Sequence[Row]", version.document.get("custom_features", ()))
    if not named_in(rows):
        return rows
    return renamed(rows, {name: one.name for name, one in of_version(version.pk).items()})


def rename_in_drafts(before: str, after: str) -> None:
    """Lets the controls of all drafts follow a provider that was renamed."""
    for copilot in Copilot.objects.only("custom_features"):
        if before in named_in(copilot.custom_features):
            rows = renamed(copilot.custom_features, {before: after})
            Copilot.objects.filter(pk=copilot.pk).update(custom_features=rows)


def keep(version: CopilotVersion, rows: Iterable[Row]) -> None:
    """Ties a new version to the providers that it names, whatever they are called later."""
    VersionProvider.objects.bulk_create(
        VersionProvider(version=version, name=name, provider=provider)
        for name, provider in found_by(named_in(rows)).items()
    )


def of_version(version_id: int) -> Mapping[str, Provider]:
    """The other providers of a version, by the names that its document has for them."""
    rows = VersionProvider.objects.filter(version_id=version_id).select_related("provider")
    return {row.name: row.provider for row in rows}
