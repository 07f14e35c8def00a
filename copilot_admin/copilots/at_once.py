"""What callers and reviewers notice when a switch that acts at once is turned."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.models import Access, Copilot, EndpointKey, Logging


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchStates:
    """How the switches stand that no version holds.

    Attributes:
        enabled: Whether it answers and is in the lists at all.
        access: Who may ask it.
        logging: What is kept of its conversations.
    """

    enabled: bool
    access: Access
    logging: Logging

    @property
    def sentences(self) -> tuple[str, ...]:
        """Who may ask and what is kept, in words; the state says whether it is switched on."""
        who = {
            Access.OPEN: _("Everybody who reaches this server may ask."),
            Access.KEY: _("Who has an endpoint key may ask."),
        }
        kept = {
            Logging.EVERYTHING: _("Whole conversations are kept."),
            Logging.METADATA: _("Times, tokens and outcomes are kept, not what was said."),
            Logging.NOTHING: _("Nothing is kept but that a question was answered."),
        }
        return (who[self.access], kept[self.logging])


def switched(copilot: Copilot) -> SwitchStates:
    """How the switches of a copilot stand."""
    return SwitchStates(
        enabled=copilot.enabled,
        access=Access(copilot.access),
        logging=Logging(copilot.logging),
    )


def is_opened(before: SwitchStates, after: SwitchStates) -> bool:
    return after.access is Access.OPEN is not before.access


def keys_of(copilot: Copilot) -> int:
    """How many valid endpoint keys open a copilot."""
    return keys_of_each([copilot.pk])[copilot.pk]


def keys_of_each(ids: Iterable[int]) -> Mapping[int, int]:
    """How many valid endpoint keys open each of some copilots; asked for once, however many."""
    wanted = tuple(ids)
    if not wanted:
        return {}
    valid = EndpointKey.objects.valid(at=timezone.now())
    for_all = valid.filter(is_scoped=False).count()
    scoped = valid.filter(is_scoped=True, copilots__in=wanted)
    counts = Counter(scoped.values_list("copilots", flat=True))
    return {pk: for_all + counts[pk] for pk in wanted}


def consequences(before: SwitchStates, after: SwitchStates, *, keys: int) -> tuple[str, ...]:
    """What happens to a published copilot when its switches are turned, a sentence each.

    Args:
        before: How they stand.
        after: How they are wanted.
        keys: How many endpoint keys open it.
    """
    return tuple(_consequences(before, after, keys=keys))


def _consequences(before: SwitchStates, after: SwitchStates, *, keys: int) -> Iterator[str]:
    if before.enabled and not after.enabled:
        yield _(
            "It goes out of the list that Workspace reads, and whoever asks is told that there is "
            "no such copilot. Answers that have begun are finished."
        )
    if after.enabled and not before.enabled:
        yield _("It is in the list again, and the published version answers from now on.")
    if before.access is not after.access:
        yield _who_may_ask(after.access, keys=keys)
    if before.logging is not after.logging:
        yield _what_is_kept(after.logging)


def _who_may_ask(access: Access, *, keys: int) -> str:
    if access is Access.OPEN:
        return _("Everybody who can reach this server may ask it from now on, without a key.")
    if not keys:
        return _(
            "Questions without a key are refused from now on, and there is no key yet that opens "
            "it: nobody can ask before one is made."
        )
    return ngettext(
        "Questions without a key are refused from now on. One key opens it.",
        "Questions without a key are refused from now on. %(count)d keys open it.",
        keys,
    ) % {"count": keys}


def _what_is_kept(logging: Logging) -> str:
    match logging:
        case Logging.EVERYTHING:
            return _("What is said from now on can be read in Transcripts.")
        case Logging.METADATA:
            return _(
                "What is said from now on cannot be read in Transcripts; times, tokens and "
                "outcomes can. What was kept before stays."
            )
        case Logging.NOTHING:
            return _(
                "Of what is asked from now on, nothing is kept but that it was answered. What was "
                "kept before stays."
            )
