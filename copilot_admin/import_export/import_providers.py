"""The providers of a copilot file: who may import them, and what becomes of each."""

from typing import Any

from django.utils.translation import gettext as _

from copilot_admin.copilots.providers import forget_key_if_moved
from copilot_admin.import_export.exporting import provider_entry
from copilot_admin.import_export.faults import FileFault
from copilot_admin.import_export.import_changes import ImportedChange, compared
from copilot_admin.import_export.import_known import KnownToImport
from copilot_admin.import_export.schema import ProviderEntry
from copilot_admin.models import Provider


def fault_of_stranger(entry: ProviderEntry, known: KnownToImport, *, index: int) -> list[FileFault]:
    """What is told to somebody who may not change providers: a file would, unless it is here so."""
    row = known.provider(entry.name)
    is_here = row is not None and provider_entry(row) == _as_written(entry)
    if is_here:
        return []
    sentence = _(
        "you may not add or change providers, and it is not here like this. Leave it out of the "
        "file to use the one that is here, or ask an operator to import it."
    )
    return [FileFault(f"providers[{index}]", sentence)]


def _as_written(entry: ProviderEntry) -> dict[str, Any]:
    return provider_entry(_filled(Provider(), entry))


def _filled(row: Provider, entry: ProviderEntry) -> Provider:
    row.name, row.kind, row.base_url = entry.name, entry.kind, entry.base_url
    row.api_key_env = entry.api_key_env
    row.timeouts = entry.timeout_s.model_dump(exclude_none=True)
    row.tool_calling = entry.tool_calling
    return row


def take_provider(entry: ProviderEntry, known: KnownToImport) -> ImportedChange:
    """Makes a provider what a file says."""
    row = known.provider(entry.name)
    before = provider_entry(row) if row else {}
    row = row or Provider()
    forget_key_if_moved(row, entry.base_url)
    after = provider_entry(_filled(row, entry))
    if before != after:
        row.save()
    known.providers[row.name.lower()] = row
    return ImportedChange(name=f"provider {row.name}", **compared(before, after))
