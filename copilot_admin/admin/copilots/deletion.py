"""What is lost when a copilot is deleted, and who may do it."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin
from django.db.models import Count, F, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.models import Conversation, Copilot, CopilotVersion, EndpointKey, LegalHold
from copilot_admin.privacy.holds import holds_on_copilot

User = AbstractBaseUser | AnonymousUser


def deletion_of(
    copilots: Iterable[Copilot], *, user: User
) -> tuple[list[Any], dict[str, int], set[str], list[str]]:
    """What Django's confirmation page shows: things, counts, missing permissions, obstacles.

    Conversations are evidence: with them a copilot is deleted only by somebody who may delete
    conversations. Anybody else is told to leave it in the archive.
    """
    things: list[Any] = []
    obstacles: list[str] = []
    conversations, versions = 0, 0
    may_delete = isinstance(user, PermissionsMixin) and user.has_perm(
        "copilot_admin.delete_conversation"
    )
    for copilot in copilots:
        had = Conversation.objects.filter(copilot=copilot).count()
        conversations += had
        versions += CopilotVersion.objects.filter(copilot=copilot).count()
        things.append(str(copilot))
        obstacles += [_held(copilot, hold) for hold in holds_on_copilot(copilot.pk)[:1]]
        if had and not may_delete:
            obstacles.append(_kept_for_review(copilot, had))
    counts = {
        str(Copilot._meta.verbose_name_plural): len(things),
        str(CopilotVersion._meta.verbose_name_plural): versions,
        str(Conversation._meta.verbose_name_plural): conversations,
    }
    return things, {name: number for name, number in counts.items() if number}, set(), obstacles


def revoke_keys_of(copilot_ids: Sequence[int]) -> None:
    """Revokes the keys that are for these copilots alone.

    They would open nothing more; revoked, they say so.
    """
    lost = (
        EndpointKey.objects.annotate(
            scope=Count("copilots", distinct=True),
            going=Count("copilots", filter=Q(copilots__in=copilot_ids), distinct=True),
        )
        .filter(going__gt=0, going=F("scope"), revoked_at=None)
        .values_list("pk", flat=True)
    )
    EndpointKey.objects.filter(pk__in=list(lost)).update(revoked_at=timezone.now())


def _held(copilot: Copilot, hold: LegalHold) -> str:
    sentence = _(
        "A legal hold keeps “%(name)s” or transcripts of it (%(reason)s, placed by %(by)s). It can "
        "be deleted when that is released."
    )
    return sentence % {"name": copilot, "reason": hold.reason, "by": hold.placed_by_name}


def _kept_for_review(copilot: Copilot, conversations: int) -> str:
    sentence = ngettext(
        "“%(name)s” has one conversation that reviewers may need. Leave it in the archive, or ask "
        "an administrator.",
        "“%(name)s” has %(count)d conversations that reviewers may need. Leave it in the archive, "
        "or ask an administrator.",
        conversations,
    )
    return sentence % {"name": copilot, "count": conversations}
