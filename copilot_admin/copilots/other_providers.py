"""Other providers of copilots, named by options and fallbacks, and live copilots of a provider."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import chain
from typing import Any, TypeAlias, cast

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q, QuerySet
from django.db.models.functions import Lower
from django.utils import timezone

from copilot_admin.copilots.providers import get_destination
from copilot_admin.models import Copilot, CopilotVersion, Provider, RerouteApproval, VersionProvider
from copilot_admin.models.copilots import PROVIDER_ROW_FIELDS
from protocol.json import Json

Row: TypeAlias = Mapping[str, Any]
APPROVAL_LIFETIME = timedelta(days=1)


def names_in_rows(rows: Iterable[Row]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(row["provider"]) for row in rows if row.get("provider")))


def names_in_document(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the other providers of a document, such as that of a version."""
    return names_in_rows(chain(*(document.get(field) or () for field in PROVIDER_ROW_FIELDS)))


def names_in_draft(copilot: Copilot) -> tuple[str, ...]:
    return names_in_document({field: getattr(copilot, field) for field in PROVIDER_ROW_FIELDS})


def find_providers(names: Iterable[str]) -> Mapping[str, Provider]:
    """Return the providers that exist, by the names that were asked for."""
    wanted = {name.lower(): name for name in names}
    if not wanted:
        return {}
    rows = Provider.objects.annotate(lower=Lower("name")).filter(lower__in=wanted)
    return {wanted[row.name.lower()]: row for row in rows}


def find_missing(names: Sequence[str]) -> tuple[str, ...]:
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


def find_live_copilots(provider: Provider) -> list[Copilot]:
    """Return the enabled copilots whose live version can call a provider."""
    uses = Q(live__provider=provider) | Q(live__other_providers__provider=provider)
    return list(Copilot.objects.in_use().filter(uses, enabled=True).distinct().by_name())


def is_rerouted(before: Provider, base_url: str, options: Mapping[str, Json]) -> bool:
    moved = get_destination(before.base_url, before.options) != get_destination(base_url, options)
    return moved or before.base_url != base_url


def is_approved(provider: Provider, base_url: str, user: AbstractBaseUser) -> bool:
    """Return whether another person approved that a user changes a provider's URL to this one."""
    return _valid(provider, base_url, user).exclude(approved_by=None).exists()


def request_approval(provider: Provider, base_url: str, user: AbstractBaseUser) -> RerouteApproval:
    """Return the open request of a user for a change of URL, made if there is none."""
    found = _valid(provider, base_url, user).first()
    return found or RerouteApproval.objects.create(
        provider=provider, base_url=base_url, requested_by_id=user.pk
    )


def _valid(provider: Provider, base_url: str, user: AbstractBaseUser) -> QuerySet[RerouteApproval]:
    since = timezone.now() - APPROVAL_LIFETIME
    return RerouteApproval.objects.filter(
        provider=provider, base_url=base_url, requested_by=user.pk, requested_at__gte=since
    )
