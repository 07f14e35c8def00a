"""Settings of a copilot that take effect without publishing, their consequences, and the archive."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.models import Access, Copilot, EndpointKey, Logging


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSettings:
    """Values of the settings that no version contains."""

    enabled: bool
    access: Access
    logging: Logging

    @property
    def sentences(self) -> tuple[str, ...]:
        access = {
            Access.OPEN: _("Open to anyone who can reach this server."),
            Access.KEY: _("Requires an API key."),
        }
        logging = {
            Logging.EVERYTHING: _("Full conversations are logged."),
            Logging.METADATA: _("Times, tokens and outcomes are logged, no content."),
            Logging.NOTHING: _("Conversations are not logged."),
        }
        return (access[self.access], logging[self.logging])


def switched(copilot: Copilot) -> LiveSettings:
    access, logging = Access(copilot.access), Logging(copilot.logging)
    return LiveSettings(enabled=copilot.enabled, access=access, logging=logging)


def is_opened(before: LiveSettings, after: LiveSettings) -> bool:
    return after.access is Access.OPEN is not before.access


def keys_of(copilot: Copilot) -> int:
    return keys_of_each([copilot.pk])[copilot.pk]


def keys_of_each(ids: Iterable[int]) -> Mapping[int, int]:
    wanted = tuple(ids)
    if not wanted:
        return {}
    valid = EndpointKey.objects.valid(at=timezone.now())
    for_all = valid.filter(is_scoped=False).count()
    scoped = valid.filter(is_scoped=True, copilots__in=wanted)
    counts = Counter(scoped.values_list("copilots", flat=True))
    return {pk: for_all + counts[pk] for pk in wanted}


def consequences(before: LiveSettings, after: LiveSettings, *, keys: int) -> Iterator[str]:
    """Yield a sentence for each effect of a change on a published copilot with some keys."""
    if before.enabled and not after.enabled:
        yield _(
            "Workspace no longer lists the copilot, and new questions get an error. Answers in "
            "progress are completed."
        )
    if after.enabled and not before.enabled:
        yield _("Workspace lists the copilot again, and the published version answers.")
    if is_opened(before, after):
        yield _("Anyone who can reach this server can use the copilot without a key.")
    elif before.access is not after.access and not keys:
        yield _(
            "Questions without a key are rejected. No valid key exists yet, so nobody can use "
            "the copilot until you create one."
        )
    elif before.access is not after.access:
        yield ngettext(
            "Questions without a key are rejected. 1 key is valid for this copilot.",
            "Questions without a key are rejected. %(count)d keys are valid for this copilot.",
            keys,
        ) % {"count": keys}
    if before.logging is not after.logging:
        texts = {
            Logging.EVERYTHING: _("New conversations are logged in full."),
            Logging.METADATA: _(
                "New conversations are logged without content. Earlier ones stay as they are."
            ),
            Logging.NOTHING: _("New conversations are not logged. Earlier ones stay as they are."),
        }
        yield texts[after.logging]


def lock(ids: Collection[int]) -> None:
    """Lock copilots until the end of the transaction, in one order so that nothing deadlocks."""
    rows = Copilot.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk")
    list(rows.values_list("pk"))


def archive_copilots(ids: Collection[int], *, restoring: bool = False) -> list[Copilot]:
    """Archive copilots, disabled and hidden, or restore them, disabled; return those changed."""
    with transaction.atomic():
        lock(ids)
        rows = Copilot.objects.filter(
            pk__in=ids, archived_at__isnull=not restoring, deletion_requested_at=None
        )
        found = list(rows.order_by("name"))
        moment = None if restoring else timezone.now()
        for copilot in found:
            copilot.enabled, copilot.archived_at = False, moment
            copilot.save(update_fields=["enabled", "archived_at"])
    return found
