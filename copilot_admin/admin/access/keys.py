"""Endpoint keys in the admin: made once, shown once, revoked at once."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.admin.common.widgets import Searched
from copilot_admin.admin.site.site import site
from copilot_admin.models import Action, Copilot, EndpointKey


class KeyState(StrEnum):
    """Whether a key opens anything."""

    VALID = "valid"
    EXPIRED = "expired"
    REVOKED = "revoked"


STATE_LABELS: Mapping[KeyState, tuple[str | Promise, str]] = {
    KeyState.VALID: (gettext_lazy("Valid"), "good"),
    KeyState.EXPIRED: (gettext_lazy("Expired"), "warn"),
    KeyState.REVOKED: (gettext_lazy("Revoked"), "bad"),
}


def state_of(key: EndpointKey) -> KeyState:
    """The state of a key at this moment."""
    if key.revoked_at is not None:
        return KeyState.REVOKED
    if key.expires_at is not None and key.expires_at <= timezone.now():
        return KeyState.EXPIRED
    return KeyState.VALID


class KeyForm(ModelForm[EndpointKey]):
    """Name, scope and expiry of a key."""

    expires_at = forms.DateTimeField(
        label=gettext_lazy("Expires"),
        required=False,
        help_text=gettext_lazy("Empty: never. The time is UTC."),
        widget=forms.DateTimeInput(
            attrs={"type": "datetime-local", "step": "1"}, format="%Y-%m-%dT%H:%M:%S"
        ),
    )

    class Meta:
        model = EndpointKey
        fields: ClassVar[list[str]] = ["name", "copilots", "expires_at"]
        widgets: ClassVar[dict[str, type[forms.Widget]]] = {"copilots": Searched}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # What is in the archive is not offered, but a key that has it keeps it.
        kept = self.instance.copilots.values_list("pk") if self.instance.pk else ()
        offered = Copilot.objects.filter(Q(archived_at=None) | Q(pk__in=kept))
        offered = offered.only("name").by_name()  # of hundreds, names are all it shows
        if "copilots" in self.fields:
            self.fields["copilots"].queryset = offered  # type: ignore[attr-defined]  # of models
            # Django adds how several are chosen in a browser's own list, which this is none of.
            self.fields["copilots"].help_text = EndpointKey._meta.get_field("copilots").help_text

    def clean_copilots(self) -> Any:
        """Never turns a key for some copilots into one for every copilot."""
        chosen = self.cleaned_data["copilots"]
        if self.instance.is_scoped and not chosen:
            raise forms.ValidationError(
                _("This key is for some copilots. Choose one, or make a new key for all of them.")
            )
        return chosen

    def clean_expires_at(self) -> Any:
        """Refuses a key that would be dead at birth."""
        moment = self.cleaned_data["expires_at"]
        if moment is not None and "expires_at" in self.changed_data and moment <= timezone.now():
            raise forms.ValidationError(_("This moment has passed. Choose a later one."))
        return moment


@admin.register(EndpointKey, site=site)
class EndpointKeyAdmin(BaseAdmin[EndpointKey]):
    """The pages of endpoint keys."""

    form = KeyForm
    change_form_template = "admin/copilot_admin/endpointkey/change_form.html"
    list_display = ("name", "beginning", "state", "scope", "expires_at", "created_at")
    search_fields = ("name", "shown")
    search_help_text = gettext_lazy("Name or beginning of the key")
    actions = None
    empty_state = gettext_lazy(
        "There is no key yet. Copilots whose access is “with a key” answer nobody without one."
    )

    @admin.display(description=gettext_lazy("Begins with"))
    def beginning(self, key: EndpointKey) -> str:
        """The part of the key that tells it from others."""
        return f"{key.shown}…"

    @admin.display(description=gettext_lazy("State"))
    def state(self, key: EndpointKey) -> SafeString:
        """Whether it opens anything, in words."""
        label, tone = STATE_LABELS[state_of(key)]
        return render_to_string("admin/includes/badge.html", {"label": label, "tone": tone})

    @admin.display(description=gettext_lazy("May ask"))
    def scope(self, key: EndpointKey) -> str:
        """The copilots that the key may ask, in words for the list."""
        names = sorted(copilot.name for copilot in key.copilots.all())
        if names:
            return ", ".join(names)
        return _("none: its copilots were deleted") if key.is_scoped else _("every copilot")

    def get_queryset(self, request: HttpRequest) -> QuerySet[EndpointKey]:
        return super().get_queryset(request).prefetch_related("copilots")

    def get_urls(self) -> list[URLPattern]:
        revoke = path(
            "<id:pk>/revoke/",
            self.admin_site.admin_view(self.revoke_view),
            name="copilot_admin_endpointkey_revoke",
        )
        return [revoke, *super().get_urls()]

    def has_delete_permission(self, request: HttpRequest, obj: EndpointKey | None = None) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: EndpointKey, form: KeyForm, change: bool
    ) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        made, text = EndpointKey.issue(obj.name, expires_at=obj.expires_at)
        obj.pk, obj.digest, obj.shown = made.pk, made.digest, made.shown
        obj.created_at = made.created_at
        obj._state = made._state
        request.issued_key = text  # type: ignore[attr-defined]  # for `response_add` alone

    def save_related(
        self, request: HttpRequest, form: KeyForm, formsets: Any, change: bool
    ) -> None:
        form.instance.limit_to(form.cleaned_data["copilots"])

    def response_add(
        self, request: HttpRequest, obj: EndpointKey, post_url_continue: str | None = None
    ) -> HttpResponse:
        context = {
            **self.page_context(request, _("Your new key")),
            "key": obj,
            "text": request.issued_key,  # type: ignore[attr-defined]  # put there by `save_model`
        }
        response = render(request, "admin/copilot_admin/endpointkey/made.html", context)
        response["Cache-Control"] = "no-store"
        return response

    def revoke_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Asks whether to revoke a key; a POST does it, and the next request with it is refused."""
        key = get_object_or_404(EndpointKey, pk=pk)
        if not self.has_change_permission(request, key):
            raise PermissionDenied
        if request.method == "POST":
            with transaction.atomic():
                if EndpointKey.objects.filter(pk=pk, revoked_at=None).update(
                    revoked_at=timezone.now()
                ):
                    self.log_change(request, key, "Revoked.")
                    self.audit(request, Action.REVOKED, key)
            text = _("“%(key)s” is revoked. Requests with it are refused from now on.")
            self.message_user(request, text % {"key": key}, level=messages.SUCCESS)
            return HttpResponseRedirect(reverse("admin:copilot_admin_endpointkey_changelist"))
        context = {
            **self.page_context(request, _("Revoke a key")),
            "key": key,
        }
        return render(request, "admin/copilot_admin/endpointkey/revoke.html", context)
