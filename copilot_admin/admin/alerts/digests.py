"""Weekly digests: recipients, day and hour."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dates import WEEKDAYS
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.alerts.forms import HELP, RECIPIENTS, SCOPE, RecipientsForm
from copilot_admin.admin.alerts.sending import ButtonAdmin, describe_scope
from copilot_admin.admin.common.html import chip
from copilot_admin.admin.site.site import site
from copilot_admin.alerts.digests import create_digest, next_due
from copilot_admin.models import Action, AlertDigest

HOURS = [(hour, f"{hour:02}:00") for hour in range(24)]


class DigestForm(RecipientsForm):
    weekday = forms.TypedChoiceField(
        label=gettext_lazy("Day"), coerce=int, choices=list(WEEKDAYS.items())
    )
    hour = forms.TypedChoiceField(
        label=gettext_lazy("Hour (UTC)"), coerce=int, choices=HOURS, initial=7
    )

    class Meta:
        model = AlertDigest
        fields: ClassVar[list[str]] = ["name", "weekday", "hour", *SCOPE, *RECIPIENTS, "enabled"]
        widgets: ClassVar[dict[str, Any]] = RecipientsForm.WIDGETS
        help_texts: ClassVar[dict[str, str | Promise]] = HELP


@admin.register(AlertDigest, site=site)
class DigestAdmin(ButtonAdmin[AlertDigest]):
    form = DigestForm
    buttons = {"now": "send_now"}
    change_form_template = "admin/copilot_admin/alertdigest/change_form.html"
    list_display = ("name", "about", "when", "status")
    columns = {"about": "grow"}
    list_select_related = ("copilot",)
    search_fields = ("name",)
    search_help_text = gettext_lazy("Name")
    actions = None
    fieldsets = (
        (None, {"fields": ["name", ("weekday", "hour")]}),
        (gettext_lazy("Copilots"), {"fields": [*SCOPE]}),
        (gettext_lazy("Recipients"), {"fields": [*RECIPIENTS]}),
        (gettext_lazy("Status"), {"fields": ["enabled"]}),
    )
    empty_icon = "mail"
    empty_state = gettext_lazy(
        "A digest is sent once a week: conversations, outcomes, feedback and cost, compared with "
        "the week before."
    )

    @admin.display(description=gettext_lazy("Copilots"))
    def about(self, digest: AlertDigest) -> str:
        return describe_scope(digest)

    @admin.display(description=gettext_lazy("Sent"))
    def when(self, digest: AlertDigest) -> str:
        day = WEEKDAYS.get(digest.weekday, "")
        return _("%(day)s, %(hour)02d:00 UTC") % {"day": day, "hour": digest.hour}

    @admin.display(description=gettext_lazy("Status"), ordering="enabled")
    def status(self, digest: AlertDigest) -> SafeString:
        return chip(_("On"), "good") if digest.enabled else chip(_("Off"))

    def save_model(
        self, request: HttpRequest, obj: AlertDigest, form: DigestForm, change: bool
    ) -> None:
        obj.due_at = next_due(obj, timezone.now())
        super().save_model(request, obj, form, change)

    def send_now(self, request: HttpRequest, digest: AlertDigest) -> None:
        sent = create_digest(digest, timezone.now())
        self.audit(request, Action.SENT, digest, after={"deliveries": len(sent)})
        self.note_sending(request, len(sent))
