"""Reads a copilot file into the database: all of it or nothing."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from copilot_admin.copilots.config import CONFIG_FIELDS, FIELDS_BY_KEY, LIVE_FIELDS
from copilot_admin.copilots.config_types import IMAGE_DATA_START
from copilot_admin.copilots.publishing import NotPublishable, apply_document, publish
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export import images
from copilot_admin.import_export.changes import ImportedChange, compared
from copilot_admin.import_export.faults import BadCopilotFile, FileFault
from copilot_admin.import_export.import_known import (
    KnownToImport,
    fault_of_stranger,
    known_to,
    take_provider,
)
from copilot_admin.import_export.import_rights import ImportWish, faults_of_rights
from copilot_admin.import_export.loading import load
from copilot_admin.import_export.questions import replace_cases
from copilot_admin.import_export.schema import CopilotEntry, CopilotFile
from copilot_admin.import_export.validation import validate
from copilot_admin.models import Access, Copilot
from copilot_admin.models.copilots import PROVIDER_ROW_FIELDS
from protocol.json import Json


def usual_access() -> Access:
    """Who may ask a copilot whose file does not say so."""
    return Access.KEY if settings.PRODUCTION else Access.OPEN


@dataclass(slots=True)
class Import:
    """One import on its way, in a transaction: what is here, and the pictures to store."""

    wish: ImportWish
    known: KnownToImport
    pictures: dict[str, bytes] = field(default_factory=dict)

    def keep_pictures(self) -> None:
        """Stores the pictures; not where the transaction is only a trial."""
        for picture in self.pictures.values():
            images.keep(picture)


def import_file(
    data: bytes,
    *,
    default_access: str,
    publishing: bool = False,
    dry_run: bool = False,
    user: AbstractBaseUser | None = None,
) -> tuple[ImportedChange, ...]:
    """Creates or updates providers by name and copilots by slug.

    Args:
        data: The text of the file, as bytes.
        default_access: Of copilots whose entry has no `access`; one that needs a key keeps it.
        publishing: Whether the copilots of the file are published too.
        dry_run: Tells what would happen and changes nothing.
        user: Who publishes; None for a command.

    Raises:
        BadCopilotFile: With every fault; nothing was changed.
    """
    return import_values(
        load(data),
        default_access=default_access,
        publishing=publishing,
        dry_run=dry_run,
        user=user,
    )


def import_values(
    values: Json,
    *,
    default_access: str,
    publishing: bool = False,
    dry_run: bool = False,
    user: AbstractBaseUser | None = None,
) -> tuple[ImportedChange, ...]:
    """Like `import_file`, for a file that has been read into plain values."""
    file = validate(values)
    wish = ImportWish(default_access=default_access, publishing=publishing, user=user)
    with transaction.atomic():
        work = begun([file], wish)
        changes = carry_out(file, work)
        transaction.set_rollback(dry_run)
        if not dry_run:
            work.keep_pictures()
    return changes


def begun(files: Iterable[CopilotFile], wish: ImportWish) -> Import:
    """An import of some files, which are carried out one after the other; call it in a transaction."""
    return Import(wish, known_to([entry.slug for file in files for entry in file.copilots]))


def carry_out(file: CopilotFile, work: Import) -> tuple[ImportedChange, ...]:
    """Does what one file says.

    Raises:
        BadCopilotFile: With every fault; nothing of this file was changed.
    """
    try:
        with transaction.atomic():
            return _carried_out(file, work)
    except IntegrityError as error:
        raise BadCopilotFile([FileFault("copilots", _why_refused(file))]) from error


def _why_refused(file: CopilotFile) -> str:
    names = {entry.slug: entry.name.lower() for entry in file.copilots}
    here = Copilot.objects.filter(slug__in=names).values_list("slug", "name")
    holders = {name.lower(): slug for slug, name in here}
    if any(holders.get(name, slug) != slug for slug, name in names.items()):
        return _("Two copilots exchange their names. Import them one after the other.")
    return _("Someone else created one of them at the same moment. Import again.")


def _carried_out(file: CopilotFile, work: Import) -> tuple[ImportedChange, ...]:
    faults = [
        fault
        for index, one in enumerate(() if work.wish.may_change_providers else file.providers)
        for fault in fault_of_stranger(one, work.known, index=index)
    ]
    if faults:
        raise BadCopilotFile(faults)
    changes = [take_provider(entry, work.known) for entry in file.providers]
    faults = [
        fault
        for index, entry in enumerate(file.copilots)
        for fault in _faults(entry, work, index=index)
    ]
    if faults:
        raise BadCopilotFile(faults)
    for index, entry in enumerate(file.copilots):
        changes.append(_take_copilot(entry, work, index=index))
    return tuple(changes)


def _provider_faults(entry: CopilotEntry, work: Import, *, path: str) -> Iterator[FileFault]:
    for key in PROVIDER_ROW_FIELDS:
        for number, row in enumerate(getattr(entry, key)):
            if row.provider and work.known.provider(row.provider) is None:
                where = f"{path}.{key}[{number}].provider"
                yield FileFault(where, _no_provider(row.provider))


def _faults(entry: CopilotEntry, work: Import, *, index: int) -> list[FileFault]:
    path = f"copilots[{index}]"
    faults = []
    if work.known.provider(entry.provider) is None:
        faults.append(FileFault(f"{path}.provider", _no_provider(entry.provider)))
    faults += _provider_faults(entry, work, path=path)
    here = work.known.copilots.get(entry.slug)
    slug = {"slug": entry.slug}
    if here is not None and here.is_being_deleted:
        sentence = _("the copilot '%(slug)s' is being deleted. Import it when it is gone.") % slug
        faults.append(FileFault(f"{path}.slug", sentence))
    if here is not None and here.is_archived:
        sentence = _("the copilot '%(slug)s' is in the archive. Restore it first.") % slug
        faults.append(FileFault(f"{path}.slug", sentence))
    if here is not None:
        faults += faults_of_rights(entry, here, work.wish, path=path)
    namesake = work.known.namesake(entry.name)
    if namesake is not None:
        sentence = _("the copilot '%(slug)s' has this name. Choose another.") % {"slug": namesake}
        faults.append(FileFault(f"{path}.name", sentence))
    if entry.image.startswith(IMAGE_DATA_START):
        try:
            work.pictures[entry.slug] = images.png_in(entry.image)
        except ConfigurationError as error:
            faults.append(FileFault(f"{path}.image", error.public))
    return faults


def _no_provider(name: str) -> str:
    sentence = _("there is no provider '%(name)s', neither in the file nor here.")
    return sentence % {"name": name}


def _take_copilot(entry: CopilotEntry, work: Import, *, index: int) -> ImportedChange:
    row = work.known.copilots.get(entry.slug)
    before = _state(row) if row else {}
    row = row or Copilot(slug=entry.slug)
    _fill(row, entry, work)
    after = _state(row)
    if before != after:
        row.save()
    before, after = _with_questions(row, entry, before, after, work)
    published = _publish(row, user=work.wish.user, index=index) if work.wish.publishing else None
    return ImportedChange(
        name=f"copilot {row.slug}",
        published=published,
        **compared(before, after, said=entry.model_fields_set),
    )


def _with_questions(
    row: Copilot,
    entry: CopilotEntry,
    before: dict[str, Any],
    after: dict[str, Any],
    work: Import,
) -> tuple[dict[str, Any], dict[str, Any]]:
    if entry.questions is None:
        return before, after
    was = work.known.questions.get(row.pk, [])
    rows = [question.row() for question in entry.questions]
    if was != rows:
        replace_cases(row, rows, work.known.origins)
    return ({**before, "questions": was} if before else before), {**after, "questions": rows}


def _fill(row: Copilot, entry: CopilotEntry, work: Import) -> None:
    document = entry.document()
    picture = work.pictures.get(entry.slug)
    if picture is not None:
        document["image"] = images.name_of(picture)
    provider = work.known.providers[entry.provider.lower()]
    apply_document(row, document, provider=provider)
    switches = entry.live_settings()
    switches["access"] = switches["access"] or _unsaid_access(entry, work)
    switches |= {key: FIELDS_BY_KEY[key].value_of(row) for key in work.wish.left_alone(row)}
    for switch in LIVE_FIELDS:
        switch.set_value(row, switches[switch.key])


def _unsaid_access(entry: CopilotEntry, work: Import) -> str:
    here = work.known.copilots.get(entry.slug)
    return Access.KEY if here and here.access == Access.KEY else work.wish.default_access


def _state(row: Copilot) -> dict[str, Any]:
    return {one.key: one.value_of(row) for one in CONFIG_FIELDS}


def _publish(row: Copilot, *, user: AbstractBaseUser | None, index: int) -> int | None:
    try:
        version = publish(row, user=user)
    except NotPublishable as error:
        raise BadCopilotFile(
            FileFault(f"copilots[{index}].{problem.field}", problem.sentence)
            for problem in error.problems
        ) from error
    return version.number if version else None
