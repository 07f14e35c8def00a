"""Import of copilot files into the database: all or nothing."""

import base64
import binascii
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from copilot_admin.accounts.members import is_reachable
from copilot_admin.copilots.config import CONFIG_FIELDS, FIELDS_BY_KEY, LIVE_FIELDS
from copilot_admin.copilots.config_types import IMAGE_DATA_START
from copilot_admin.copilots.images import harmless_png, picture_name, store_picture
from copilot_admin.copilots.providers import forget_secrets_if_moved
from copilot_admin.copilots.publishing import NotPublishable, apply_document, publish
from copilot_admin.copilots.test_cases import as_row
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export.changes import ImportedChange, compare
from copilot_admin.import_export.errors import BadCopilotFile, FileError
from copilot_admin.import_export.exporting import provider_entry
from copilot_admin.import_export.formats import load
from copilot_admin.import_export.questions import replace_cases
from copilot_admin.import_export.schema import CopilotEntry, CopilotFile, ProviderEntry, validate
from copilot_admin.models import Access, Copilot, Provider, TestCase
from copilot_admin.models.copilots import PROVIDER_ROW_FIELDS
from protocol.json import Json

Changes: TypeAlias = tuple[ImportedChange, ...]


def usual_access() -> Access:
    """Return the access of new copilots whose file doesn't set it."""
    return Access.KEY if settings.PRODUCTION else Access.OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """Options of an import; without rights of the user, what is stored stays as it is."""

    default_access: str  # of copilots whose entry has no `access`; existing ones keep KEY
    publishing: bool = False
    user: User | None = None  # None for a command, which may do everything

    def may(self, *permissions: str) -> bool:
        return self.user is None or self.user.has_perms([f"copilot_admin.{p}" for p in permissions])

    def find_unchanged_keys(self, row: Copilot) -> Iterator[str]:
        """Yield the keys that keep their values in a row, whatever the file says."""
        if not self.may("change_subjectlimits"):
            yield "limits"
        if row.pk and not self.may("hold_data"):
            yield from (field.key for field in CONFIG_FIELDS if field.is_retention)
        if row.live_id and not self.may("publish_copilot"):
            yield "logging"


def import_file(data: bytes, *, dry_run: bool = False, **options: Any) -> Changes:
    """Create or update the providers (by name) and copilots (by slug) of a file.

    Raises:
        BadCopilotFile: With every error; nothing was changed.
    """
    return import_values(load(data), dry_run=dry_run, **options)


def import_values(values: Json, *, dry_run: bool = False, **options: Any) -> Changes:
    return import_files([("", validate(values))], ImportOptions(**options), dry_run=dry_run)


def import_files(
    files: Sequence[tuple[str, CopilotFile]], options: ImportOptions, *, dry_run: bool = False
) -> Changes:
    """Import several files with their names, in order."""
    changes: list[ImportedChange] = []
    with transaction.atomic():
        work = _Import([entry for _, file in files for entry in file.copilots], options)
        for name, file in files:
            try:
                changes += [replace(change, file=name) for change in work.take_file(file)]
            except BadCopilotFile as error:
                raise BadCopilotFile(one.within(name) for one in error.errors) from error
            except IntegrityError as error:
                sentence = _(
                    "Two copilots exchange their names, or someone else created one of them at "
                    "the same moment. Import again, one after the other."
                )
                raise BadCopilotFile([FileError("copilots", sentence).within(name)]) from error
        transaction.set_rollback(dry_run)
        if not dry_run:
            work.store_pictures()
    return tuple(changes)


class _Import:
    """One import in a transaction; stored rows are read and locked once."""

    def __init__(self, entries: Sequence[CopilotEntry], options: ImportOptions) -> None:
        self._options = options
        self._slugs = frozenset(entry.slug for entry in entries)
        rows = Copilot.objects.filter(slug__in=self._slugs).select_related("provider", "live")
        locked = rows.order_by("pk").select_for_update(of=("self",), no_key=True)
        self._copilots = {row.slug: row for row in locked}
        names = Copilot.objects.values_list("name", "slug")
        self._slug_by_name = {name.lower(): slug for name, slug in names}
        self._cases: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for case in TestCase.objects.filter(copilot__slug__in=self._slugs):
            self._cases[case.copilot_id].append(as_row(case))
        made = TestCase.objects.exclude(origin=None).order_by("origin")  # the newer wins
        self._origins = dict(made.values_list("digest", "origin"))
        self._providers = {row.name.lower(): row for row in Provider.objects.all()}
        self._pictures: dict[str, bytes] = {}

    def store_pictures(self) -> None:
        for png in self._pictures.values():
            store_picture(png)

    def take_file(self, file: CopilotFile) -> list[ImportedChange]:
        if not self._options.may("add_provider", "change_provider"):
            self._check_providers(file.providers)
        changes = [self._take_provider(entry) for entry in file.providers]
        errors = [
            replace(error, path=f"copilots[{index}].{error.path}")
            for index, entry in enumerate(file.copilots)
            for error in self._find_errors(entry)
        ]
        if errors:
            raise BadCopilotFile(errors)
        changes += [self._take_copilot(entry, at) for at, entry in enumerate(file.copilots)]
        return changes

    def _check_providers(self, entries: Sequence[ProviderEntry]) -> None:
        sentence = _(
            "you can't add or change providers, and this one differs from the stored one. Remove it "
            "from the file, or ask an operator to import it."
        )
        stored = {name: provider_entry(row) for name, row in self._providers.items()}
        wanted = [(one.name.lower(), provider_entry(_fill(Provider(), one))) for one in entries]
        differ = [at for at, (name, entry) in enumerate(wanted) if stored.get(name) != entry]
        if differ:
            raise BadCopilotFile(FileError(f"providers[{at}]", sentence) for at in differ)

    def _take_provider(self, entry: ProviderEntry) -> ImportedChange:
        row = self._providers.get(entry.name.lower())
        before = provider_entry(row) if row else {}
        row = row or Provider()
        forget_secrets_if_moved(row, entry.base_url, entry.options.stored())
        after = provider_entry(_fill(row, entry))
        if before != after:
            row.save()
        self._providers[row.name.lower()] = row
        return ImportedChange(name=f"provider {row.name}", row=row, **compare(before, after))

    def _find_errors(self, entry: CopilotEntry) -> Iterator[FileError]:
        yield from self._find_missing_providers(entry)
        here = self._copilots.get(entry.slug)
        slug = {"slug": entry.slug}
        if here is not None and here.is_being_deleted:
            sentence = _("the copilot '%(slug)s' is being deleted. Import it when it is gone.")
            yield FileError("slug", sentence % slug)
        if here is not None and here.is_archived:
            sentence = _("the copilot '%(slug)s' is in the archive. Restore it first.")
            yield FileError("slug", sentence % slug)
        if here is not None:
            yield from self._find_missing_rights(entry, here)
        namesake = self._slug_by_name.get(entry.name.lower())
        if namesake is not None and namesake not in self._slugs:
            sentence = _("the copilot '%(slug)s' has this name. Choose another.")
            yield FileError("name", sentence % {"slug": namesake})
        if entry.image.startswith(IMAGE_DATA_START):
            try:
                self._pictures[entry.slug] = _read_picture(entry.image)
            except ConfigurationError as error:
                yield FileError("image", error.public)

    def _find_missing_providers(self, entry: CopilotEntry) -> Iterator[FileError]:
        named = [("provider", entry.provider)]
        named += [
            (f"{key}[{number}].provider", row.provider)
            for key in PROVIDER_ROW_FIELDS
            for number, row in enumerate(getattr(entry, key))
        ]
        for path, name in named:
            if name and name.lower() not in self._providers:
                sentence = _("there is no provider '%(name)s', neither in the file nor here.")
                yield FileError(path, sentence % {"name": name})

    def _find_missing_rights(self, entry: CopilotEntry, here: Copilot) -> Iterator[FileError]:
        user = self._options.user
        if user is not None and not is_reachable(user, here.pk):
            sentence = _("the slug '%(slug)s' is already used. Choose another.")
            yield FileError("slug", sentence % {"slug": entry.slug})
        elif here.live_id is None or self._options.may("publish_copilot"):
            return
        elif entry.enabled and not here.enabled:
            sentence = _("you can't enable copilots. Ask someone with the role Publishers.")
            yield FileError("enabled", sentence)
        elif entry.access == Access.OPEN.value != here.access:
            sentence = _("you can't open it to everyone. Ask someone with the role Publishers.")
            yield FileError("access", sentence)

    def _take_copilot(self, entry: CopilotEntry, index: int) -> ImportedChange:
        row = self._copilots.get(entry.slug)
        before = _state(row) if row else {}
        row = row or Copilot(slug=entry.slug)
        self._fill_copilot(row, entry)
        after = _state(row)
        if before != after:
            row.save()
        if entry.questions is not None:
            was = self._cases.get(row.pk, [])
            rows = [question.row() for question in entry.questions]
            if was != rows:
                replace_cases(row, rows, self._origins)
            before = {**before, "questions": was} if before else before
            after = {**after, "questions": rows}
        return ImportedChange(
            name=f"copilot {row.slug}",
            row=row,
            published=self._publish(row, index=index) if self._options.publishing else None,
            **compare(before, after, said=entry.model_fields_set),
        )

    def _fill_copilot(self, row: Copilot, entry: CopilotEntry) -> None:
        document = entry.document()
        if (png := self._pictures.get(entry.slug)) is not None:
            document["image"] = picture_name(png)
        apply_document(row, document, provider=self._providers[entry.provider.lower()])
        live = entry.live_settings()
        if not live["access"]:
            is_closed = row.pk and row.access == Access.KEY
            live["access"] = Access.KEY if is_closed else self._options.default_access
        kept = self._options.find_unchanged_keys(row)
        live |= {key: FIELDS_BY_KEY[key].value_of(row) for key in kept}
        for field in LIVE_FIELDS:
            field.set_value(row, live[field.key])

    def _publish(self, row: Copilot, *, index: int) -> int | None:
        try:
            version = publish(row, user=self._options.user)
        except NotPublishable as error:
            raise BadCopilotFile(
                FileError(f"copilots[{index}].{problem.field}", problem.sentence)
                for problem in error.problems
            ) from error
        return version.number if version else None


def _fill(row: Provider, entry: ProviderEntry) -> Provider:
    row.name, row.kind, row.base_url = entry.name, entry.kind, entry.base_url
    row.api_key_env = entry.api_key_env
    row.timeouts = entry.timeout_s.model_dump(exclude_none=True)
    row.tool_calling = entry.tool_calling
    row.options = entry.options.stored()
    return row


def _state(row: Copilot) -> dict[str, Any]:
    return {field.key: field.value_of(row) for field in CONFIG_FIELDS}


def _read_picture(data_uri: str) -> bytes:
    head, _comma, body = data_uri.partition(",")
    if not head.endswith(";base64"):
        raise ConfigurationError(_("Write the image as data:image/png;base64,… or as a URL."))
    try:
        data = base64.b64decode("".join(body.split()), validate=True)
    except binascii.Error as error:
        raise ConfigurationError(_("The image is not valid base64.")) from error
    return harmless_png(data)
