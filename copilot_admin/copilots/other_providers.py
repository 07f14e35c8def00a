"""Providers other than a copilot's own, named by its controls and its fallbacks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from django.db.models.functions import Lower

from copilot_admin.models import Copilot, CopilotVersion, Provider, VersionProvider
from copilot_admin.models.copilots import PROVIDER_ROW_FIELDS

Row: TypeAlias = Mapping[str, Any]


def names_in_rows(rows: Iterable[Row]) -> tuple[str, ...]:
    """Return the names of the providers in the rows of a field."""
    names = (row.get("provider") for row in rows)
    return tuple(dict.fromkeys(str(name) for name in names if name))


def names_in_draft(copilot: Copilot) -> tuple[str, ...]:
    """Return the names of the other providers of a draft."""
    return names_in_rows([row for field in PROVIDER_ROW_FIELDS for row in getattr(copilot, field)])


def names_in_document(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the other providers of a document, such as that of a version."""
    return names_in_rows(
        [row for field in PROVIDER_ROW_FIELDS for row in document.get(field) or ()]
    )


def find_providers(names: Iterable[str]) -> Mapping[str, Provider]:
    """Return the providers that exist, by the names that were asked for."""
    wanted = {name.lower(): name for name in names}
    if not wanted:
        return {}
    rows = Provider.objects.annotate(lower=Lower("name")).filter(lower__in=wanted)
    return {wanted[row.name.lower()]: row for row in rows}


def find_missing(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names that no provider has."""
    existing = find_providers(names)
    return tuple(name for name in names if name not in existing)


def current_rows(version: CopilotVersion) -> dict[str, list[Row]]:
    """Return the rows of each field of a version, with the current names of their providers."""
    fields = {
        field: cast("list[Row]", version.document.get(field) or []) for field in PROVIDER_ROW_FIELDS
    }
    if not names_in_document(version.document):
        return fields
    names = {name: one.name for name, one in providers_of_version(version.pk).items()}
    return {field: _rename(rows, names) for field, rows in fields.items()}


def rename_in_drafts(before: str, after: str) -> None:
    """Let all drafts follow a provider that was renamed."""
    for copilot in Copilot.objects.only(*PROVIDER_ROW_FIELDS):
        if before in names_in_draft(copilot):
            values = {
                field: _rename(getattr(copilot, field), {before: after})
                for field in PROVIDER_ROW_FIELDS
            }
            Copilot.objects.filter(pk=copilot.pk).update(**values)


def link_providers(version: CopilotVersion) -> None:
    """Link a new version to the providers that it names, whatever they are called later."""
    VersionProvider.objects.bulk_create(
        VersionProvider(version=version, name=name, provider=provider)
        for name, provider in find_providers(names_in_document(version.document)).items()
    )


def providers_of_version(version_id: int) -> Mapping[str, Provider]:
    """Return the other providers of a version, by the names in its document."""
    rows = VersionProvider.objects.filter(version_id=version_id).select_related("provider")
    return {row.name: row.provider for row in rows}


def _rename(rows: Iterable[Row], names: Mapping[str, str]) -> list[Row]:
    return [
        {**row, "provider": names[row["provider"]]} if row.get("provider") in names else row
        for row in rows
    ]
