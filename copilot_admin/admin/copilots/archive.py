"""Archive, copies and deletion of copilots."""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, F, Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.common.base import post_only
from copilot_admin.admin.copilots.header import NAME
from copilot_admin.admin.copilots.views import CopilotViews, page_of
from copilot_admin.admin.home.copilots import Week, load_weeks
from copilot_admin.copilots.live_settings import archive_copilots
from copilot_admin.copilots.names import MAX_LENGTH, free_slug
from copilot_admin.copilots.test_cases import copy_cases
from copilot_admin.models import Access, Action, Conversation, Copilot, CopilotVersion, EndpointKey
from copilot_admin.privacy.holds import holds_on_copilot

MAX_COPIED_LENGTH = MAX_LENGTH - len("-copy")


class ArchiveViews(CopilotViews):
    """Views of the archive and of copies, for everyone who can change or add copilots."""

    def archive_view(self, request: HttpRequest) -> HttpResponseBase:
        """Show the effects; a POST archives the copilots."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        copilots = self.chosen(request)
        if request.method == "POST":
            self.archive(request, [copilot.pk for copilot in copilots])
            return HttpResponseRedirect(reverse(f"{NAME}_changelist"))
        weeks = load_weeks()
        leaving = [
            {
                "copilot": one,
                "use": weeks.get(one.pk, Week()),
                "is_noticed": one.enabled and one.live_id is not None,
            }
            for one in copilots
        ]
        copilot = copilots[0] if len(copilots) == 1 else None
        return self.render_page(request, "archive", _("Archive"), copilot=copilot, leaving=leaving)

    @post_only
    def unarchive_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        if not self.has_change_permission(request):
            raise PermissionDenied
        self.unarchive(request, [pk])
        return HttpResponseRedirect(reverse(f"{NAME}_change", args=[pk]))

    @post_only
    def duplicate_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        copilot = self.looked_at(request, pk)
        if not self.has_add_permission(request):
            raise PermissionDenied
        with transaction.atomic():
            made = duplicate(copilot)
            self.log_addition(request, made, [{"added": {}}])
        messages.success(request, _("“%(name)s” was created as a copy.") % {"name": made})
        return HttpResponseRedirect(self.url_of("change", made))

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        copilot = self.get_object(request, object_id)
        if copilot and self.has_delete_permission(request, copilot) and not copilot.is_archived:
            messages.info(request, _("Archive this copilot before you delete it."))
            return HttpResponseRedirect(page_of("archive", [copilot.pk]))
        return super().delete_view(request, object_id, extra_context)

    def archive(self, request: HttpRequest, ids: Iterable[int]) -> None:
        gone = self._move(request, ids, Action.ARCHIVED, "Put into the archive.")
        text = ngettext(
            "“%(name)s” was archived.", "%(count)d copilots were archived.", len(gone)
        ) % {"count": len(gone), "name": gone[0].name if gone else ""}
        url = f"{reverse(f'{NAME}_changelist')}?state=archived"
        link = format_html('<a href="{}">{}</a>', url, _("Show archive"))
        messages.success(request, format_html("{} {}", text, link))

    def unarchive(self, request: HttpRequest, ids: Iterable[int]) -> None:
        back = self._move(request, ids, Action.BROUGHT_BACK, "Restored from the archive.")
        if not back:
            messages.info(request, _("These copilots aren't in the archive."))
            return
        text = ngettext(
            "“%(name)s” was restored and is disabled. Enable it when you're ready.",
            "%(count)d copilots were restored and are disabled. Enable them when you're ready.",
            len(back),
        )
        messages.success(request, text % {"count": len(back), "name": back[0].name})

    def _move(
        self, request: HttpRequest, ids: Iterable[int], action: Action, entry: str
    ) -> list[Copilot]:
        with transaction.atomic():
            moved = archive_copilots(list(ids), restoring=action is Action.BROUGHT_BACK)
            for copilot in moved:
                self.log_change(request, copilot, entry)
                self.audit(request, action, copilot)
        return moved


def duplicate(copilot: Copilot) -> Copilot:
    """Return an unpublished copy of a draft and its test cases, with a new name and slug."""
    copy = Copilot.objects.get(pk=copilot.pk)
    copy.pk = None
    copy._state.adding = True
    copy.live = None
    copy.access = Access.KEY  # open access is granted to one copilot, not to its copies
    copy.archived_at = copy.deletion_requested_at = copy.deletion_moved_at = None
    longest = Copilot._meta.get_field("name").max_length or 0
    suffixes = (" (copy)" if number == 1 else f" (copy {number})" for number in count(1))
    names = (copilot.name[: longest - len(suffix)] + suffix for suffix in suffixes)
    taken = Copilot.objects.all()
    copy.name = next(name for name in names if not taken.filter(name__iexact=name).exists())
    copy.slug = free_slug(copilot.slug[:MAX_COPIED_LENGTH].rstrip("-") + "-copy")
    with transaction.atomic():
        copy.save()
        copy_cases(copilot, to=copy)
    return copy


def deletion_of(
    copilots: Iterable[Copilot], *, user: AbstractBaseUser | AnonymousUser
) -> tuple[list[Any], dict[str, int], set[str], list[str]]:
    """Return objects, counts, missing permissions and obstacles for Django's confirmation page.

    Conversations are evidence: deleting them requires the permission to delete conversations.
    """
    chosen = list(copilots)
    counts = {
        model._meta.verbose_name_plural: model._default_manager.filter(copilot__in=chosen).count()
        for model in (CopilotVersion, Conversation)
    }
    may_delete = isinstance(user, PermissionsMixin) and user.has_perm(
        "copilot_admin.delete_conversation"
    )
    obstacles: list[str] = []
    for copilot in chosen:
        for hold in holds_on_copilot(copilot.pk)[:1]:
            sentence = _(
                "A legal hold keeps “%(name)s” or transcripts of it (%(reason)s, placed by "
                "%(by)s). It can be deleted when that is released."
            )
            words = {"name": copilot, "reason": hold.reason, "by": hold.placed_by_name}
            obstacles.append(sentence % words)
        had = 0 if may_delete else Conversation.objects.filter(copilot=copilot).count()
        if had:
            sentence = ngettext(
                "“%(name)s” has one conversation that reviewers may need. Leave it in the archive, "
                "or ask an administrator.",
                "“%(name)s” has %(count)d conversations that reviewers may need. Leave it in the "
                "archive, or ask an administrator.",
                had,
            )
            obstacles.append(sentence % {"name": copilot, "count": had})
    numbers = {Copilot._meta.verbose_name_plural: len(chosen), **counts}
    shown = {str(name): number for name, number in numbers.items() if number}
    return [str(one) for one in chosen], shown, set(), obstacles


def revoke_keys_of(copilot_ids: Sequence[int]) -> None:
    """Revoke the keys that are valid for these copilots only."""
    going = Count("copilots", filter=Q(copilots__in=copilot_ids), distinct=True)
    keys = EndpointKey.objects.annotate(scope=Count("copilots", distinct=True), going=going)
    lost = keys.filter(going__gt=0, going=F("scope"), revoked_at=None)
    ids = list(lost.values_list("pk", flat=True))
    EndpointKey.objects.filter(pk__in=ids).update(revoked_at=timezone.now())
