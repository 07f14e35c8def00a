"""Rows that an import reads once, and the providers among them."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from copilot_admin.copilots.providers import forget_secrets_if_moved
from copilot_admin.copilots.test_cases import as_row
from copilot_admin.import_export.changes import ImportedChange, compared
from copilot_admin.import_export.exporting import provider_entry
from copilot_admin.import_export.faults import FileFault
from copilot_admin.import_export.schema import ProviderEntry
from copilot_admin.models import Copilot, Provider, TestCase


@dataclass(frozen=True, slots=True)
class KnownToImport:
    """What is here, before and while an import is carried out.

    Attributes:
        slugs: All that the files name.
        copilots: Those of them that are here, by slug; nobody else changes them meanwhile.
        names: Of all copilots, in small letters, with their slugs.
        questions: Test cases by copilot id, as a file has them.
        origins: Source conversations of test cases, by digest.
        providers: All there are, by name in small letters; those that the import makes join them.
    """

    slugs: frozenset[str]
    copilots: dict[str, Copilot]
    names: dict[str, str]
    questions: dict[int, list[dict[str, Any]]]
    origins: dict[str, int]
    providers: dict[str, Provider]

    def namesake(self, name: str) -> str | None:
        """The slug of a copilot with this name that the files do not name; None: there is none."""
        slug = self.names.get(name.lower())
        return None if slug in self.slugs else slug

    def provider(self, name: str) -> Provider | None:
        """A provider, in whatever capitals it is named."""
        return self.providers.get(name.lower())


def known_to(slugs: Collection[str]) -> KnownToImport:
    """Reads what an import has to know; five queries, in the transaction of the import."""
    rows = Copilot.objects.filter(slug__in=slugs).select_related("provider", "live")
    locked = rows.order_by("pk").select_for_update(of=("self",), no_key=True)
    copilots = {row.slug: row for row in locked}
    questions: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for saved in TestCase.objects.filter(copilot__slug__in=slugs):
        questions[saved.copilot_id].append(as_row(saved))
    made = TestCase.objects.exclude(origin=None).order_by("origin")
    origins = {digest: origin for digest, origin in made.values_list("digest", "origin") if origin}
    return KnownToImport(
        slugs=frozenset(slugs),
        copilots=copilots,
        names={name.lower(): slug for name, slug in Copilot.objects.values_list("name", "slug")},
        questions=questions,
        origins=origins,  # of two, the newer
        providers={row.name.lower(): row for row in Provider.objects.all()},
    )


def fault_of_stranger(entry: ProviderEntry, known: KnownToImport, *, index: int) -> list[FileFault]:
    """Return the fault of a provider that differs, for users who can't change providers."""
    row = known.provider(entry.name)
    is_here = row is not None and provider_entry(row) == _as_written(entry)
    if is_here:
        return []
    sentence = _(
        "you can't add or change providers, and this one differs from the stored one. Remove it "
        "from the file, or ask an operator to import it."
    )
    return [FileFault(f"providers[{index}]", sentence)]


def _as_written(entry: ProviderEntry) -> dict[str, Any]:
    return provider_entry(_filled(Provider(), entry))


def _filled(row: Provider, entry: ProviderEntry) -> Provider:
    row.name, row.kind, row.base_url = entry.name, entry.kind, entry.base_url
    row.api_key_env = entry.api_key_env
    row.timeouts = entry.timeout_s.model_dump(exclude_none=True)
    row.tool_calling = entry.tool_calling
    row.options = entry.options.stored()
    return row


def take_provider(entry: ProviderEntry, known: KnownToImport) -> ImportedChange:
    """Makes a provider what a file says."""
    row = known.provider(entry.name)
    before = provider_entry(row) if row else {}
    row = row or Provider()
    forget_secrets_if_moved(row, entry.base_url, entry.options.stored())
    after = provider_entry(_filled(row, entry))
    if before != after:
        row.save()
    known.providers[row.name.lower()] = row
    return ImportedChange(name=f"provider {row.name}", **compared(before, after))
