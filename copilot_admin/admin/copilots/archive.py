"""Archive, copies and deletion of copilots."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, F, Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.copilots.views import CopilotViews, header_of, page_of
from copilot_admin.admin.home.copilots import Week, load_weeks
from copilot_admin.copilots.archive import archive_copilots, restore_copilots
from copilot_admin.copilots.names import MAX_LENGTH, free_slug
from copilot_admin.copilots.test_cases import copy_cases
from copilot_admin.models import (
    Access,
    Action,
    Conversation,
    Copilot,
    CopilotVersion,
    EndpointKey,
    LegalHold,
)
from copilot_admin.privacy.holds import holds_on_copilot

FOLDER = "admin/copilot_admin/copilot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """A copilot on the page that confirms archiving."""

    copilot: Copilot
    use: Week

    @property
    def is_noticed(self) -> bool:
        return self.copilot.enabled and self.copilot.live_id is not None


class ArchiveViews(CopilotViews):
    """Views of the archive, for everyone who can change copilots."""

    def archive_url(self, ids: Iterable[int]) -> str:
        """Return the URL of the page that confirms archiving."""
        return page_of("archive", ids)

    def archive_view(self, request: HttpRequest) -> HttpResponseBase:
        """Show the effects; a POST archives the copilots."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        copilots = self.chosen(request)
        if request.method == "POST":
            self.archive(request, [copilot.pk for copilot in copilots])
            return HttpResponseRedirect(reverse("admin:copilot_admin_copilot_changelist"))
        weeks = load_weeks()
        context = {
            **self.page_context(request, _("Archive")),
            **header_of(request, copilots),
            "leaving": [Leaving(copilot=one, use=weeks.get(one.pk, Week())) for one in copilots],
        }
        return render(request, f"{FOLDER}/archive.html", context)

    def unarchive_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Restore a copilot and open it."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        self.unarchive(request, [pk])
        return HttpResponseRedirect(reverse("admin:copilot_admin_copilot_change", args=[pk]))

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        copilot = self.get_object(request, object_id)
        if copilot and self.has_delete_permission(request, copilot) and not copilot.is_archived:
            text = _("Archive this copilot before you delete it.")
            messages.info(request, text)
            return HttpResponseRedirect(self.archive_url([copilot.pk]))
        return super().delete_view(request, object_id, extra_context)

    def archive(self, request: HttpRequest, ids: Iterable[int]) -> None:
        """Archive copilots and show a message."""
        with transaction.atomic():
            gone = archive_copilots(list(ids))
            for copilot in gone:
                self.log_change(request, copilot, "Put into the archive.")
                self.audit(request, Action.ARCHIVED, copilot)
        text = ngettext(
            "“%(name)s” was archived.", "%(count)d copilots were archived.", len(gone)
        ) % {"count": len(gone), "name": gone[0].name if gone else ""}
        address = f"{reverse('admin:copilot_admin_copilot_changelist')}?state=archived"
        link = format_html('<a href="{}">{}</a>', address, _("Show archive"))
        messages.success(request, format_html("{} {}", text, link))

    def unarchive(self, request: HttpRequest, ids: Iterable[int]) -> None:
        """Restore copilots and show a message."""
        with transaction.atomic():
            back = restore_copilots(list(ids))
            for copilot in back:
                self.log_change(request, copilot, "Restored from the archive.")
                self.audit(request, Action.BROUGHT_BACK, copilot)
        if not back:
            messages.info(request, _("These copilots aren't in the archive."))
            return
        text = ngettext(
            "“%(name)s” was restored and is disabled. Enable it when you're ready.",
            "%(count)d copilots were restored and are disabled. Enable them when you're ready.",
            len(back),
        )
        messages.success(request, text % {"count": len(back), "name": back[0].name})


MAX_COPIED_LENGTH = MAX_LENGTH - len("-copy")


def duplicate(copilot: Copilot) -> Copilot:
    """Return an unpublished copy of a draft and its test cases, with a new name and slug."""
    copy = Copilot.objects.get(pk=copilot.pk)
    copy.pk = None
    copy._state.adding = True
    copy.live = None
    copy.access = Access.KEY  # open access is granted to one copilot, not to its copies
    copy.archived_at = copy.deletion_requested_at = copy.deletion_moved_at = None
    copy.name = _free_name(copilot.name)
    copy.slug = free_slug(copilot.slug[:MAX_COPIED_LENGTH].rstrip("-") + "-copy")
    with transaction.atomic():
        copy.save()
        copy_cases(copilot, to=copy)
    return copy


def _free_name(name: str) -> str:
    longest = Copilot._meta.get_field("name").max_length or 0
    suffixes = (" (copy)" if number == 1 else f" (copy {number})" for number in count(1))
    names = (name[: longest - len(suffix)] + suffix for suffix in suffixes)
    return next(name for name in names if not Copilot.objects.filter(name__iexact=name).exists())


User = AbstractBaseUser | AnonymousUser


def deletion_of(
    copilots: Iterable[Copilot], *, user: User
) -> tuple[list[Any], dict[str, int], set[str], list[str]]:
    """Return objects, counts, missing permissions and obstacles for Django's confirmation page.

    Conversations are evidence: deleting them requires the permission to delete conversations.
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
        obstacles += [_describe_hold(copilot, hold) for hold in holds_on_copilot(copilot.pk)[:1]]
        if had and not may_delete:
            obstacles.append(_describe_conversations(copilot, had))
    counts = {
        str(Copilot._meta.verbose_name_plural): len(things),
        str(CopilotVersion._meta.verbose_name_plural): versions,
        str(Conversation._meta.verbose_name_plural): conversations,
    }
    return things, {name: number for name, number in counts.items() if number}, set(), obstacles


def revoke_keys_of(copilot_ids: Sequence[int]) -> None:
    """Revoke the keys that are valid for these copilots only."""
    lost = (
        EndpointKey.objects.annotate(
            scope=Count("copilots", distinct=True),
            going=Count("copilots", filter=Q(copilots__in=copilot_ids), distinct=True),
        )
        .filter(going__gt=0, going=F("scope"), revoked_at=None)
        .values_list("pk", flat=True)
    )
    EndpointKey.objects.filter(pk__in=list(lost)).update(revoked_at=timezone.now())


def _describe_hold(copilot: Copilot, hold: LegalHold) -> str:
    sentence = _(
        "A legal hold keeps “%(name)s” or transcripts of it (%(reason)s, placed by %(by)s). It can "
        "be deleted when that is released."
    )
    return sentence % {"name": copilot, "reason": hold.reason, "by": hold.placed_by_name}


def _describe_conversations(copilot: Copilot, conversations: int) -> str:
    sentence = ngettext(
        "“%(name)s” has one conversation that reviewers may need. Leave it in the archive, or ask "
        "an administrator.",
        "“%(name)s” has %(count)d conversations that reviewers may need. Leave it in the archive, "
        "or ask an administrator.",
        conversations,
    )
    return sentence % {"name": copilot, "count": conversations}
