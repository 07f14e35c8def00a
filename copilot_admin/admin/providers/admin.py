"""Providers in the admin: for operators only."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.base import Fieldsets, without
from copilot_admin.admin.providers.deletion import deletion_of
from copilot_admin.admin.providers.form import ProviderForm
from copilot_admin.admin.providers.trial import TrialViews
from copilot_admin.admin.site.site import site
from copilot_admin.agent.providers.registry import provider_kinds
from copilot_admin.copilots.model_lists import known_models
from copilot_admin.copilots.other_providers import rename_in_drafts
from copilot_admin.copilots.providers import set_api_key, set_headers
from copilot_admin.models import Provider

FIELDSETS: Fieldsets = [
    (None, {"fields": ["preset", "name", "kind", "base_url"]}),
    (gettext_lazy("Key"), {"fields": ["api_key", "clear_key", "api_key_env"]}),
    (
        gettext_lazy("Models"),
        {"fields": ["tool_calling", "streams", "merges_messages", "has_system_role"]},
    ),
    (
        gettext_lazy("Patience"),
        {"fields": [("connect", "first_token"), ("between_tokens", "total")]},
    ),
    (
        gettext_lazy("Clouds and accounts"),
        {
            "classes": ["collapse"],
            "fields": [
                ("api_version", "deployment"),
                "uses_entra_id",
                ("tenant_id", "client_id"),
                ("organization", "project"),
                "region",
            ],
        },
    ),
    (
        gettext_lazy("Network"),
        {
            "classes": ["collapse"],
            "fields": ["headers", "proxy", "ca_bundle", ("client_certificate", "client_key")],
        },
    ),
]
VIEW_ONLY = ["name", "kind", "base_url", "api_key_env", "tool_calling"]


@admin.register(Provider, site=site)
class ProviderAdmin(TrialViews):
    """The pages of providers."""

    form = ProviderForm
    change_form_template = "admin/copilot_admin/provider/change_form.html"
    list_display = ("name", "kind_label", "base_url", "key", "used_by")
    search_fields = ("name", "base_url")
    search_help_text = gettext_lazy("Name or address")
    actions = None
    empty_state = gettext_lazy(
        "There is no provider yet. A provider is where models are: a service of the web, a server "
        "of your own, or the built-in demo model, which needs neither."
    )

    @admin.display(description=gettext_lazy("Kind"), ordering="kind")
    def kind_label(self, provider: Provider) -> str:
        """The kind in words."""
        return dict(provider_kinds()).get(provider.kind, provider.kind)

    @admin.display(description=gettext_lazy("Key"))
    def key(self, provider: Provider) -> str:
        """What may be shown of the key: its end, or where it comes from."""
        if provider.api_key_cipher:
            return f"••••{provider.api_key_hint}"
        return f"${provider.api_key_env}" if provider.api_key_env else "-"

    @admin.display(description=gettext_lazy("Copilots"), ordering="n_copilots")
    def used_by(self, provider: Provider) -> int:
        """How many drafts use it."""
        return int(getattr(provider, "n_copilots", 0))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Provider]:
        providers: QuerySet[Provider] = super().get_queryset(request)
        return providers.annotate(n_copilots=Count("copilots"))

    def get_urls(self) -> list[URLPattern]:
        return self.trial_urls() + super().get_urls()

    def get_fieldsets(self, request: HttpRequest, obj: Provider | None = None) -> Any:
        may_edit = (
            self.has_change_permission(request, obj) if obj else self.has_add_permission(request)
        )
        if not may_edit:
            return [(None, {"fields": VIEW_ONLY})]
        if obj is not None and obj.api_key_cipher:
            return FIELDSETS
        return without(FIELDSETS, "clear_key")

    def save_model(
        self, request: HttpRequest, obj: Provider, form: ProviderForm, change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        if "name" in form.changed_data:
            rename_in_drafts(form.initial.get("name", ""), obj.name)
        if form.new_key is not None:
            set_api_key(obj, form.new_key)
        if "headers" in form.changed_data or form.headers_were_cleared:
            set_headers(obj, form.new_headers)
        if form.url_note:
            self.message_user(request, form.url_note)
        if form.key_was_cleared or form.headers_were_cleared:
            self.message_user(
                request,
                _(
                    "The address, the proxy or the trusted certificates lead to another server, so "
                    "the stored key and headers were forgotten. Enter those of the new one."
                ),
                level=messages.WARNING,
            )

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        original = context["original"]
        context["known_models"] = known_models(original.pk) if original else ()
        return super().render_change_form(request, context, *args, **kwargs)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Says in a sentence which copilots are in the way."""
        return deletion_of(objs)
