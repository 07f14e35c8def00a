"""Weekly digests in the admin: who gets one, when, and one to try."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.dates import WEEKDAYS
from django.utils.decorators import method_decorator
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from copilot_admin.admin.alerts.forms import HELP, WHICH, WHO, ToldForm
from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.admin.site.site import site
from copilot_admin.alerts.digests import create_digest, next_due
from copilot_admin.alerts.rules import get_scope
from copilot_admin.models import Action, AlertDigest

HOURS = [(hour, f"{hour:02}:00") for hour in range(24)]


class DigestForm(ToldForm):
    """When a digest is sent, of what, and to whom."""

    weekday = forms.TypedChoiceField(
        label=gettext_lazy("Day"), coerce=int, choices=list(WEEKDAYS.items())
    )
    hour = forms.TypedChoiceField(
        label=gettext_lazy("Hour (UTC)"), coerce=int, choices=HOURS, initial=7
    )

    class Meta:
        model = AlertDigest
        fields: ClassVar[list[str]] = [
            "name",
            "weekday",
            "hour",
            "copilot",
            "tag",
            "mails",
            "webhook",
            "enabled",
        ]
        widgets: ClassVar[dict[str, Any]] = ToldForm.WIDGETS
        help_texts: ClassVar[dict[str, str | Promise]] = HELP


@admin.register(AlertDigest, site=site)
class DigestAdmin(BaseAdmin[AlertDigest]):
    """The pages of digests."""

    form = DigestForm
    change_form_template = "admin/copilot_admin/alertdigest/change_form.html"
    list_display = ("name", "about", "when", "enabled")
    list_select_related = ("copilot",)
    search_fields = ("name",)
    search_help_text = gettext_lazy("Name")
    actions = None
    fieldsets = (
        (None, {"fields": ["name", ("weekday", "hour")]}),
        (gettext_lazy("Which copilots"), {"fields": [*WHICH]}),
        (gettext_lazy("Who is told"), {"fields": [*WHO]}),
        (gettext_lazy("Now"), {"fields": ["enabled"]}),
    )
    empty_state = gettext_lazy(
        "There is no digest. One says each week how many conversations there were, how they ended, "
        "thumbs and costs, beside the week before."
    )

    def get_urls(self) -> list[URLPattern]:
        now = path(
            "<id:pk>/now/",
            self.admin_site.admin_view(self.now_view),
            name="copilot_admin_alertdigest_now",
        )
        return [now, *super().get_urls()]

    @admin.display(description=gettext_lazy("About"))
    def about(self, digest: AlertDigest) -> str:
        """Which copilots it is about."""
        return get_scope(digest).label

    @admin.display(description=gettext_lazy("Sent"))
    def when(self, digest: AlertDigest) -> str:
        """On which day, at which hour."""
        day = WEEKDAYS.get(digest.weekday, "")
        return _("%(day)s, %(hour)02d:00 UTC") % {"day": day, "hour": digest.hour}

    def save_model(
        self, request: HttpRequest, obj: AlertDigest, form: DigestForm, change: bool
    ) -> None:
        obj.due_at = next_due(obj, timezone.now())
        super().save_model(request, obj, form, change)

    @method_decorator(require_POST)
    def now_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Sends the digest of the last seven days at once."""
        rows = AlertDigest.objects.select_related("copilot", "webhook")
        digest = get_object_or_404(rows, pk=pk)
        if not self.has_change_permission(request, digest):
            raise PermissionDenied
        with transaction.atomic():
            made = create_digest(digest, timezone.now())
            self.audit(request, Action.SENT, digest, after={"deliveries": len(made)})
        text = ngettext(
            "%(number)d digest is on its way. Deliveries say what becomes of it.",
            "%(number)d digests are on their way. Deliveries say what becomes of them.",
            len(made),
        )
        self.message_user(request, text % {"number": len(made)}, level=messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:copilot_admin_alertdigest_change", args=[pk]))
