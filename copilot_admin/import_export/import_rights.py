"""Options of an import, and the checks of an entry: rights and hidden text direction."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser
from django.utils.translation import gettext as _

from copilot_admin.copilots.config import CONFIG_FIELDS
from copilot_admin.import_export.faults import FileFault
from copilot_admin.import_export.schema import CopilotEntry
from copilot_admin.models import Access, Copilot


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportWish:
    """How files are to be imported.

    Attributes:
        default_access: Of copilots whose entry has no `access`; one that needs a key keeps it.
        publishing: Whether the copilots of the files are published too.
        user: Who publishes; None for a command.
        may_change_providers: Whether whoever imports may say where keys are sent. Else a provider
            of a file is taken only where it is here as it is there.
        may_change_limits: Whether limits of a file count: a builder lifts none that operators set.
        may_change_keeping: Whether retention and redaction of a file count for a copilot that is
            here: they are those who hold data's to set.
        may_publish: Whether whoever imports may switch on what was published once, open it to
            everybody, or say what is kept of it.
        reaches: Whether he works on a copilot that is here.
    """

    default_access: str
    publishing: bool = False
    user: AbstractBaseUser | None = None
    may_change_providers: bool = True
    may_change_limits: bool = True
    may_change_keeping: bool = True
    may_publish: bool = True
    reaches: Callable[[Copilot], bool] = lambda _: True

    def left_alone(self, row: Copilot) -> Iterator[str]:
        """The keys that stay as they are in a row, whatever its entry says."""
        if not self.may_change_limits:
            yield "limits"
        if row.pk and not self.may_change_keeping:
            yield from (field.key for field in CONFIG_FIELDS if field.is_retention)
        if row.live_id and not self.may_publish:
            yield "logging"


def faults_of_rights(
    entry: CopilotEntry, here: Copilot, wish: ImportWish, *, path: str
) -> list[FileFault]:
    """What whoever imports may not do to a copilot that is here."""
    if not wish.reaches(here):
        sentence = _("the slug '%(slug)s' is already used. Choose another.")
        return [FileFault(f"{path}.slug", sentence % {"slug": entry.slug})]
    if _switches_on(entry, here) and not wish.may_publish:
        sentence = _("you can't enable copilots. Ask someone with the role Publishers.")
        return [FileFault(f"{path}.enabled", sentence)]
    if entry.live_settings()["access"] == Access.OPEN and not wish.may_publish and _is_closed(here):
        sentence = _("you can't open it to everyone. Ask someone with the role Publishers.")
        return [FileFault(f"{path}.access", sentence)]
    return []


def _is_closed(here: Copilot) -> bool:
    return here.live_id is not None and here.access != Access.OPEN


def _switches_on(entry: CopilotEntry, here: Copilot) -> bool:
    return bool(here.live_id and not here.enabled and entry.live_settings()["enabled"])
