"""Copilots as a copilot file: drafts or live versions, without secrets."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.core.files.storage import default_storage

from copilot_admin.agent.values.spec import ToolCalling
from copilot_admin.copilots.config import CONFIG_FIELDS, LIVE_FIELDS
from copilot_admin.copilots.config_records import to_short_forms
from copilot_admin.copilots.images import is_url
from copilot_admin.copilots.other_providers import current_rows, find_providers, names_in_document
from copilot_admin.copilots.publishing import document_of
from copilot_admin.copilots.test_cases import as_row
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export.schema import FORMAT
from copilot_admin.models import Copilot, Provider, TestCase


def export_file(
    slugs: Sequence[str] = (), *, live: bool = False, with_providers: bool = True
) -> dict[str, Any]:
    """Return a copilot file as plain values: drafts or live versions, by default of all."""
    copilots = _chosen(slugs, live=live)
    providers = {
        provider.pk: provider for row in copilots for provider in _providers(row, live=live)
    }
    rows = sorted(providers.values(), key=lambda one: one.name) if with_providers else []
    return {
        "format": FORMAT,
        "providers": [provider_entry(row) for row in rows],
        "copilots": [copilot_entry(row, live=live) for row in copilots],
    }


def copilot_entry(copilot: Copilot, *, live: bool = False) -> dict[str, Any]:
    """Return the entry of a copilot with its test cases, without keys that have their default."""
    document = _document(copilot, live=live)
    image = str(document.get("image", ""))
    entry = {
        **document,
        "components": to_short_forms(document.get("components", [])),
        "image": image if is_url(image) or not image else _read_data_uri(image),
        "provider": _provider(copilot, live=live).name,
        **{field.key: field.value_of(copilot) for field in LIVE_FIELDS},
    }
    given = {
        field.key: entry[field.key]
        for field in CONFIG_FIELDS
        if field.key in entry and (field.is_always_exported or entry[field.key] != field.default)
    }
    questions = [as_row(case) for case in TestCase.objects.filter(copilot=copilot)]
    return {**given, "questions": questions} if questions else given


def provider_entry(provider: Provider) -> dict[str, Any]:
    """Return the entry of a provider; it has the name of a key variable, but no stored key."""
    is_native = provider.tool_calling == ToolCalling.NATIVE
    entry = {
        "name": provider.name,
        "kind": provider.kind,
        "base_url": provider.base_url,
        "api_key_env": provider.api_key_env,
        "timeout_s": provider.timeouts,
        "options": provider.options,
        "tool_calling": "" if is_native else provider.tool_calling,
    }
    return {key: value for key, value in entry.items() if value}


def _chosen(slugs: Sequence[str], *, live: bool) -> list[Copilot]:
    rows = Copilot.objects.select_related("provider", "live__provider").order_by("slug")
    if not slugs:
        in_use = rows.filter(archived_at=None)
        return list(in_use.exclude(live=None) if live else in_use)
    found = {row.slug: row for row in rows.filter(slug__in=slugs)}
    for slug in slugs:
        if slug not in found:
            raise ConfigurationError(f"There is no copilot with the slug '{slug}'.")
        if live and found[slug].live is None:
            raise ConfigurationError(f"Copilot '{slug}' was never published. Export its draft.")
    return [found[slug] for slug in dict.fromkeys(slugs)]


def _provider(copilot: Copilot, *, live: bool) -> Provider:
    return copilot.live.provider if live and copilot.live else copilot.provider


def _providers(copilot: Copilot, *, live: bool) -> Iterator[Provider]:
    yield _provider(copilot, live=live)
    yield from find_providers(names_in_document(_document(copilot, live=live))).values()


def _document(copilot: Copilot, *, live: bool) -> Mapping[str, Any]:
    if live and copilot.live:
        return {**copilot.live.document, **current_rows(copilot.live)}
    return document_of(copilot)


def _read_data_uri(name: str) -> str:
    if not default_storage.exists(name):
        return ""
    with default_storage.open(name) as file:
        return f"data:image/png;base64,{base64.b64encode(file.read()).decode('ascii')}"
