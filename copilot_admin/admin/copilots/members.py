"""Page of the members of a copilot."""

from typing import TypeAlias

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.accounts.members import may_say_who
from copilot_admin.admin.common.base import number_in
from copilot_admin.admin.copilots.header import SETTINGS
from copilot_admin.admin.copilots.views import CopilotViews
from copilot_admin.copilots.live_settings import lock
from copilot_admin.models import Action, Copilot, Membership

MAX_OFFERED = 500  # names in the list of proposals; any other can be typed
Result: TypeAlias = tuple[str | Promise, bool]  # a message, and whether the change was made
_NEEDS_OWNER = gettext_lazy("A copilot needs an owner. Make another member an owner first.")


class MemberViews(CopilotViews):
    """View of the members: everyone who sees the copilot sees them, owners change them."""

    def members_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Members page; a POST adds or removes members, or opens the copilot to all builders."""
        copilot = self.looked_at(request, pk)
        may_change = may_say_who(request.user, copilot)
        if request.method == "POST":
            if not may_change:
                raise PermissionDenied
            return self._change(request, copilot)
        if not settings.MEMBERS:
            raise Http404
        offered = builders().values_list("username", flat=True)[:MAX_OFFERED]
        return self.render_page(
            request,
            "members",
            _("Members"),
            copilot=copilot,
            tab=SETTINGS,
            members=copilot.memberships.select_related("user"),
            may_change=may_change,
            offered=offered if may_change else (),
        )

    def _change(self, request: HttpRequest, copilot: Copilot) -> HttpResponseBase:
        with transaction.atomic():
            lock([copilot.pk])
            before = members_of(copilot)
            if "add" in request.POST:
                message, is_done = self._add(request, copilot)
            elif "remove" in request.POST:
                message, is_done = self._remove(request, copilot)
            else:
                message, is_done = self._open(request, copilot), True
            after = members_of(copilot)
            if before != after:
                self.audit(request, Action.CHANGED, copilot, before=before, after=after)
        (messages.success if is_done else messages.error)(request, str(message))
        return HttpResponseRedirect(self.url_of("members", copilot))

    def _add(self, request: HttpRequest, copilot: Copilot) -> Result:
        found = builders().filter(username=request.POST.get("user", "").strip()).first()
        if found is None:
            return _("No builder has this user name."), False
        is_owner = "owner" in request.POST
        if not is_owner and _is_last_owner(copilot, found.pk):
            return _NEEDS_OWNER, False
        Membership.objects.update_or_create(
            copilot=copilot, user=found, defaults={"is_owner": is_owner}
        )
        self.log_change(request, copilot, f"Made {found} {'an owner' if is_owner else 'a member'}.")
        return _("“%(name)s” was added.") % {"name": found}, True

    def _remove(self, request: HttpRequest, copilot: Copilot) -> Result:
        number = number_in(request.POST.get("remove"))
        found = get_object_or_404(copilot.memberships.select_related("user"), pk=number)
        if _is_last_owner(copilot, found.user_id):
            return _NEEDS_OWNER, False
        found.delete()
        self.log_change(request, copilot, f"Took {found.user} from the members.")
        return _("“%(name)s” was removed.") % {"name": found.user}, True

    def _open(self, request: HttpRequest, copilot: Copilot) -> str:
        is_open = "everybody" in request.POST
        Copilot.objects.filter(pk=copilot.pk).update(is_for_all_builders=is_open)
        if is_open:
            self.log_change(request, copilot, "Opened to all builders.")
            return _("All builders can edit this copilot now.")
        self.log_change(request, copilot, "Closed to all but its members.")
        return _("Only members can edit this copilot now.")


def _is_last_owner(copilot: Copilot, user_id: int) -> bool:
    owners = copilot.memberships.filter(is_owner=True).values_list("user_id", flat=True)
    return list(owners) == [user_id]


def members_of(copilot: Copilot) -> dict[str, object]:
    members = copilot.memberships.values_list("user__username", "is_owner")
    is_open = Copilot.objects.values_list("is_for_all_builders", flat=True).get(pk=copilot.pk)
    return {
        "owners": sorted(name for name, is_owner in members if is_owner),
        "members": sorted(name for name, is_owner in members if not is_owner),
        "is_for_all_builders": is_open,
    }


def builders() -> QuerySet[User]:
    """Return all users who can edit or publish copilots, by name."""
    names = ("change_copilot", "publish_copilot")
    allowed = Q(groups__permissions__codename__in=names) | Q(user_permissions__codename__in=names)
    rows = User.objects.filter(allowed | Q(is_superuser=True), is_active=True, is_staff=True)
    return rows.order_by("username").distinct()
