"""Settings of a copilot that take effect without publishing, their consequences, and the archive."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.models import Access, Copilot, EndpointKey, Logging


def live_settings_of(copilot: Copilot) -> dict[str, Any]:
    """Return the values that no version contains and that users notice."""
    return {"enabled": copilot.enabled, "access": copilot.access, "logging": copilot.logging}


def describe_live_settings(copilot: Copilot) -> tuple[str, ...]:
    access = {
        Access.OPEN: _("Open to anyone who can reach this server."),
        Access.KEY: _("Requires an API key."),
    }
    logging = {
        Logging.EVERYTHING: _("Full conversations are logged."),
        Logging.METADATA: _("Times, tokens and outcomes are logged, no content."),
        Logging.NOTHING: _("Conversations are not logged."),
    }
    return access[Access(copilot.access)], logging[Logging(copilot.logging)]


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


def consequences(
    before: Mapping[str, Any], after: Mapping[str, Any], *, keys: int
) -> Iterator[str]:
    """Yield a sentence for each effect of a change on a published copilot with some keys."""
    if before["enabled"] and not after["enabled"]:
        yield _(
            "Workspace no longer lists the copilot, and new questions get an error. Answers in "
            "progress are completed."
        )
    if after["enabled"] and not before["enabled"]:
        yield _("Workspace lists the copilot again, and the published version answers.")
    if before["access"] != after["access"]:
        if after["access"] == Access.OPEN:
            yield _("Anyone who can reach this server can use the copilot without a key.")
        elif keys:
            yield ngettext(
                "Questions without a key are rejected. 1 key is valid for this copilot.",
                "Questions without a key are rejected. %(count)d keys are valid for this copilot.",
                keys,
            ) % {"count": keys}
        else:
            yield _(
                "Questions without a key are rejected. No valid key exists yet, so nobody can use "
                "the copilot until you create one."
            )
    if before["logging"] != after["logging"]:
        texts = {
            Logging.EVERYTHING: _("New conversations are logged in full."),
            Logging.METADATA: _(
                "New conversations are logged without content. Earlier ones stay as they are."
            ),
            Logging.NOTHING: _("New conversations are not logged. Earlier ones stay as they are."),
        }
        yield texts[Logging(after["logging"])]


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
