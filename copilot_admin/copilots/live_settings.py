"""Settings of a copilot that take effect without publishing, and their consequences."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

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
        """Access and logging in words."""
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
    """Return the live settings of a copilot."""
    return LiveSettings(
        enabled=copilot.enabled,
        access=Access(copilot.access),
        logging=Logging(copilot.logging),
    )


def is_opened(before: LiveSettings, after: LiveSettings) -> bool:
    return after.access is Access.OPEN is not before.access


def keys_of(copilot: Copilot) -> int:
    """Return the number of valid endpoint keys of a copilot."""
    return keys_of_each([copilot.pk])[copilot.pk]


def keys_of_each(ids: Iterable[int]) -> Mapping[int, int]:
    """Return the number of valid endpoint keys of each copilot, in one query."""
    wanted = tuple(ids)
    if not wanted:
        return {}
    valid = EndpointKey.objects.valid(at=timezone.now())
    for_all = valid.filter(is_scoped=False).count()
    scoped = valid.filter(is_scoped=True, copilots__in=wanted)
    counts = Counter(scoped.values_list("copilots", flat=True))
    return {pk: for_all + counts[pk] for pk in wanted}


def consequences(before: LiveSettings, after: LiveSettings, *, keys: int) -> tuple[str, ...]:
    """Return a sentence for each effect of a change on a published copilot with some keys."""
    return tuple(_consequences(before, after, keys=keys))


def _consequences(before: LiveSettings, after: LiveSettings, *, keys: int) -> Iterator[str]:
    if before.enabled and not after.enabled:
        yield _(
            "Workspace no longer lists the copilot, and new questions get an error. Answers in "
            "progress are completed."
        )
    if after.enabled and not before.enabled:
        yield _("Workspace lists the copilot again, and the published version answers.")
    if before.access is not after.access:
        yield _describe_access(after.access, keys=keys)
    if before.logging is not after.logging:
        yield _describe_logging(after.logging)


def _describe_access(access: Access, *, keys: int) -> str:
    if access is Access.OPEN:
        return _("Anyone who can reach this server can use the copilot without a key.")
    if not keys:
        return _(
            "Questions without a key are rejected. No valid key exists yet, so nobody can use "
            "the copilot until you create one."
        )
    return ngettext(
        "Questions without a key are rejected. 1 key is valid for this copilot.",
        "Questions without a key are rejected. %(count)d keys are valid for this copilot.",
        keys,
    ) % {"count": keys}


def _describe_logging(logging: Logging) -> str:
    match logging:
        case Logging.EVERYTHING:
            return _("New conversations are logged in full.")
        case Logging.METADATA:
            return _("New conversations are logged without content. Earlier ones stay as they are.")
        case Logging.NOTHING:
            return _("New conversations are not logged. Earlier ones stay as they are.")
