"""Page for the tags of one or several copilots."""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.accounts.members import reachable
from copilot_admin.admin.copilots.views import CopilotViews, page_of
from copilot_admin.copilots.archive import lock
from copilot_admin.copilots.tags import give_tags, known_tags, tags_in, with_tags
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Action, Copilot

FOLDER = "admin/copilot_admin/copilot"


class TagViews(CopilotViews):
    """View of tags, for everyone who can change copilots."""

    def tags_url(self, ids: Iterable[int]) -> str:
        """Return the URL of the page for some copilots."""
        return page_of("tags", ids)

    def tags_view(self, request: HttpRequest) -> HttpResponseBase:
        """Show the form; a POST sets `tags`, or adds and removes tags of several copilots."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        copilots = self.chosen(request)
        fault = ""
        if request.method == "POST":
            try:
                said = self._tag(request, [copilot.pk for copilot in copilots])
            except ConfigurationError as error:
                fault = error.public
            else:
                messages.success(request, said)
                return HttpResponseRedirect(self._after(copilots))
        return self._tags_page(request, copilots, fault=fault)

    def _tag(self, request: HttpRequest, ids: list[int]) -> str:
        known = known_tags(reachable(request.user).in_use())
        named = {
            key: tags_in(request.POST.get(key, ""), known=known)
            for key in ("tags", "add", "remove")
        }
        changed = []
        with transaction.atomic():
            lock(ids)
            for copilot in Copilot.objects.filter(pk__in=ids):
                before = [] if "tags" in request.POST else copilot.tags
                wanted = with_tags(
                    before, add=[*named["tags"], *named["add"]], remove=named["remove"]
                )
                had = copilot.tags
                if give_tags(copilot, wanted):
                    changed.append((copilot, had))
            for copilot, had in changed:
                self.log_change(request, copilot, [{"changed": {"fields": [str(_("tags"))]}}])
                tags = {"before": {"tags": had}, "after": {"tags": copilot.tags}}
                self.audit(request, Action.CHANGED, copilot, **tags)
        text = ngettext(
            "The tags of one copilot were changed.",
            "The tags of %(count)d copilots were changed.",
            len(changed),
        )
        return text % {"count": len(changed)} if changed else _("Nothing was changed.")

    def _after(self, copilots: list[Copilot]) -> str:
        if len(copilots) == 1:
            return self.settings_url(copilots[0])
        return reverse("admin:copilot_admin_copilot_changelist")

    def _tags_page(
        self, request: HttpRequest, copilots: list[Copilot], *, fault: str
    ) -> HttpResponseBase:
        is_one = len(copilots) == 1
        context: dict[str, Any] = {
            **self.page_context(request, _("Tags")),
            "copilots": copilots,
            "is_one": is_one,
            "typed": request.POST.get("tags", ", ".join(copilots[0].tags) if is_one else ""),
            "typed_add": request.POST.get("add", ""),
            "typed_remove": request.POST.get("remove", ""),
            "known": known_tags(reachable(request.user).in_use()),
            "fault": fault,
            "back": self._after(copilots),
        }
        return render(request, f"{FOLDER}/tags.html", context, status=422 if fault else 200)
