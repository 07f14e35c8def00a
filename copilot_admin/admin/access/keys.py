"""API keys: created and shown once, limited to copilots, revoked."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.admin.common.widgets import Searched, chip, time_column
from copilot_admin.admin.site.site import site
from copilot_admin.models import Action, Copilot, EndpointKey


class KeyForm(ModelForm[EndpointKey]):
    class Meta:
        widgets: ClassVar[dict[str, type[forms.Widget]]] = {"copilots": Searched}
        help_texts: ClassVar[dict[str, Any]] = {
            "copilots": gettext_lazy("Leave blank to allow all copilots."),
            "expires_at": gettext_lazy("Leave blank for a key that never expires."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kept = self.instance.copilots.values_list("pk") if self.instance.pk else ()
        offered = Copilot.objects.filter(Q(archived_at=None) | Q(pk__in=kept))
        offered = offered.only("name").by_name()
        if "copilots" in self.fields:
            self.fields["copilots"].queryset = offered  # type: ignore[attr-defined]  # of models
            # Django adds a hint for a browser's own list.
            self.fields["copilots"].help_text = self.Meta.help_texts["copilots"]

    def clean_copilots(self) -> Any:
        """Never turn a key for some copilots into one for all."""
        chosen = self.cleaned_data["copilots"]
        if self.instance.is_scoped and not chosen:
            text = _("Choose at least one copilot, or create a new key for all copilots.")
            raise forms.ValidationError(text, code="scope")
        return chosen

    def clean_expires_at(self) -> Any:
        moment = self.cleaned_data["expires_at"]
        if moment is not None and "expires_at" in self.changed_data and moment <= timezone.now():
            raise forms.ValidationError(_("The expiry must be in the future."), code="past")
        return moment


@admin.register(EndpointKey, site=site)
class EndpointKeyAdmin(BaseAdmin[EndpointKey]):
    form = KeyForm
    fields = ("name", "copilots", "expires_at")
    change_form_template = "admin/copilot_admin/endpointkey/change_form.html"
    list_display = ("name", "beginning", "state", "scope", "expires", "created")
    columns = {"scope": "grow", "beginning": "wide", "created": "medium"}
    row_views = ("revoke",)
    search_fields = ("name", "shown")
    search_help_text = gettext_lazy("Name or start of the key")
    actions = None
    empty_icon = "key"
    empty_state = gettext_lazy("Copilots that require an API key answer only with one.")

    @admin.display(description=gettext_lazy("Key"))
    def beginning(self, key: EndpointKey) -> str:
        return f"{key.shown}…"

    @admin.display(description=gettext_lazy("Status"))
    def state(self, key: EndpointKey) -> SafeString:
        if key.revoked_at is not None:
            return chip(_("Revoked"), "bad")
        if key.expires_at is not None and key.expires_at <= timezone.now():
            return chip(_("Expired"), "warn")
        return chip(_("Valid"), "good")

    expires = time_column(
        "expires_at", gettext_lazy("Expires"), style="date", blank=gettext_lazy("Never")
    )
    created = time_column("created_at", gettext_lazy("Created"), style="date")

    @admin.display(description=gettext_lazy("Copilots"))
    def scope(self, key: EndpointKey) -> str:
        names = sorted(copilot.name for copilot in key.copilots.all())
        if names:
            return ", ".join(names)
        return _("None (copilots deleted)") if key.is_scoped else _("All copilots")

    def get_queryset(self, request: HttpRequest) -> QuerySet[EndpointKey]:
        return super().get_queryset(request).prefetch_related("copilots")

    def has_delete_permission(self, request: HttpRequest, obj: EndpointKey | None = None) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: EndpointKey, form: KeyForm, change: bool
    ) -> None:
        if not change:
            request.issued_key = obj.generate_text()  # type: ignore[attr-defined]  # read in `response_add`
        super().save_model(request, obj, form, change)

    def save_related(
        self, request: HttpRequest, form: KeyForm, formsets: Any, change: bool
    ) -> None:
        form.instance.limit_to(form.cleaned_data["copilots"])

    def response_add(
        self, request: HttpRequest, obj: EndpointKey, post_url_continue: str | None = None
    ) -> HttpResponse:
        context = {
            **self.page_context(request, _("New API key")),
            "key": obj,
            "text": request.issued_key,  # type: ignore[attr-defined]  # set in `save_model`
        }
        response = render(request, "admin/copilot_admin/endpointkey/created.html", context)
        response["Cache-Control"] = "no-store"
        return response

    def revoke_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        key = self.get_changeable(request, pk)
        if request.method == "POST":
            with transaction.atomic():
                valid = EndpointKey.objects.filter(pk=pk, revoked_at=None)
                if valid.update(revoked_at=timezone.now()):
                    self.log_change(request, key, "Revoked.")
                    self.audit(request, Action.REVOKED, key)
            text = _("“%(key)s” was revoked. Requests with it are rejected.")
            self.message_user(request, text % {"key": key}, level=messages.SUCCESS)
            return HttpResponseRedirect(reverse("admin:copilot_admin_endpointkey_changelist"))
        context = {**self.page_context(request, _("Revoke API key")), "key": key}
        return render(request, "admin/copilot_admin/endpointkey/revoke.html", context)
