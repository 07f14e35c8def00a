"""Providers in the admin: for operators only."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.base import BaseAdmin, Fieldsets, post_only, without
from copilot_admin.admin.providers.connect import (
    MODEL_FIELD,
    CheckResult,
    build_connect_data,
    build_model_rows,
    check_form,
)
from copilot_admin.admin.providers.form import ProviderForm
from copilot_admin.admin.providers.presets import PRESETS, list_presets
from copilot_admin.admin.site.site import site
from copilot_admin.audit.recording import Actor
from copilot_admin.copilots.other_providers import (
    APPROVAL_LIFETIME,
    find_live_copilots,
    rename_in_drafts,
)
from copilot_admin.copilots.providers import (
    keep_models,
    record_error,
    set_api_key,
    set_headers,
)
from copilot_admin.models import Action, Copilot, ModelPrice, Provider, RerouteApproval
from copilot_admin.pricing.price_list import add_list_prices

FOLDER = "admin/copilot_admin/provider"
FULL = "full"  # of the add page: all settings instead of a vendor and a key
# A change of one of these may lead to another server than the saved one.
WHERE = frozenset({"kind", "base_url", "api_key", "clear_key", "api_key_env"})
_ADVANCED = [
    *("api_key_env", "tool_calling", ("streams", "merges_messages", "has_system_role")),
    *(("connect", "first_token"), ("between_tokens", "total")),
]
_CLOUDS = [
    *(("api_version", "deployment"), "uses_entra_id", ("tenant_id", "client_id")),
    *(("organization", "project"), "region"),
]
_NETWORK = ["headers", "proxy", "ca_bundle", ("client_certificate", "client_key")]
FIELDSETS: Fieldsets = [
    (None, {"fields": ["name", "kind", "base_url", "confirm_reroute", "api_key", "clear_key"]}),
    (gettext_lazy("Advanced"), {"classes": ["collapse"], "fields": _ADVANCED}),
    (gettext_lazy("Clouds and accounts"), {"classes": ["collapse"], "fields": _CLOUDS}),
    (gettext_lazy("Network"), {"classes": ["collapse"], "fields": _NETWORK}),
]
VIEW_ONLY = ["name", "kind", "base_url", "api_key_env", "tool_calling"]


@admin.register(Provider, site=site)
class ProviderAdmin(BaseAdmin[Provider]):
    """The pages of providers."""

    form = ProviderForm
    list_views = ("connect", "check")
    routes = {"approve": "approve/<int:pk>/"}
    change_form_template = f"{FOLDER}/change_form.html"
    list_display = ("name", "status", "n_models", "base_url", "key", "used_by")
    search_fields = ("name", "base_url")
    search_help_text = gettext_lazy("Name or URL")
    actions = None
    empty_state = gettext_lazy(
        "No providers yet. Connect a model API, your own server, or the built-in demo model, which "
        "needs no key."
    )

    @admin.display(description=gettext_lazy("Status"), ordering="checked_at")
    def status(self, provider: Provider) -> SafeString:
        return render_to_string(f"{FOLDER}/status.html", {"provider": provider})

    @admin.display(description=gettext_lazy("Models"))
    def n_models(self, provider: Provider) -> int | str:
        return len(provider.model_ids) or "-"

    @admin.display(description=gettext_lazy("Key"))
    def key(self, provider: Provider) -> str:
        if provider.api_key_cipher:
            return f"••••{provider.api_key_hint}"
        return f"${provider.api_key_env}" if provider.api_key_env else "-"

    @admin.display(description=gettext_lazy("Copilots"), ordering="n_copilots")
    def used_by(self, provider: Provider) -> int:
        return int(getattr(provider, "n_copilots", 0))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Provider]:
        providers: QuerySet[Provider] = super().get_queryset(request)
        return providers.annotate(n_copilots=Count("copilots"))

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        if request.method != "POST" and FULL not in request.GET:
            return self.connect_view(request)
        return super().add_view(request, form_url, extra_context)

    def connect_view(self, request: HttpRequest) -> HttpResponse:
        """Choose a vendor and enter a key; a POST tests, fetches the models and saves."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        presets = list_presets()
        vendor = request.POST.get("vendor") or request.GET.get("vendor", "")
        preset = presets.get(vendor, PRESETS[0])
        sent = request.POST if request.method == "POST" else None
        form = ProviderForm(build_connect_data(preset, sent))
        context: dict[str, Any] = {
            **self.page_context(request, _("Connect a provider")),
            "presets": presets.values(),
            "preset": preset,
            "fields": [form[name] for name in preset.fields],
            "is_drawer": "drawer" in request.GET or "drawer" in request.POST,
        }
        is_part = "HX-Request" in request.headers
        name = "connect_form" if is_part else "connect"
        if sent is None:
            return render(request, f"{FOLDER}/{name}.html", context)
        result = check_form(form, model=sent.get(MODEL_FIELD, ""))
        self._audit_check(request, form.instance, result)
        context |= {"result": result, "test_model": sent.get(MODEL_FIELD, "")}
        if result.error:
            template = "check_result" if is_part else "connect"
            return render(request, f"{FOLDER}/{template}.html", context)
        form = ProviderForm(build_connect_data(preset, sent))
        form.is_valid()
        with transaction.atomic():
            provider = form.save(commit=False)
            self.save_model(request, provider, form, change=False)
            self.log_addition(request, provider, [{"added": {}}])
        _record(request, provider, result)
        context |= {"provider": provider, "models": build_model_rows(provider, result.models)}
        response = render(request, f"{FOLDER}/{name}.html", context)
        response["HX-Retarget"], response["HX-Reswap"] = "#connect-drawer", "innerHTML"
        response["HX-Trigger"] = "provider-connected"
        return response

    @post_only
    def check_view(self, request: HttpRequest) -> HttpResponse:
        """Test the provider that the form on the page describes; nothing is saved."""
        given = request.GET.get("id", "")
        provider = self.get_changeable(request, given) if given.isdecimal() else None
        if provider is None and not self.has_add_permission(request):
            raise PermissionDenied
        form = ProviderForm(request.POST, instance=provider)
        result = check_form(form, model=request.POST.get(MODEL_FIELD, ""))
        self._audit_check(request, form.instance, result)
        if provider is not None and WHERE.isdisjoint(form.changed_data):
            _record(request, provider, result)
        rows = build_model_rows(form.instance, result.models) if provider is not None else ()
        context = {"result": result, "models": rows}
        return render(request, f"{FOLDER}/check_result.html", context)

    def _audit_check(self, request: HttpRequest, provider: Provider, result: CheckResult) -> None:
        works = not result.error
        facts = {"base_url": provider.base_url, "kind": provider.kind, "worked": works}
        self.audit(request, Action.TESTED, provider, after=facts)

    def get_fieldsets(self, request: HttpRequest, obj: Provider | None = None) -> Any:
        if not self.may_edit(request, obj):
            return [(None, {"fields": VIEW_ONLY})]
        absent = set() if obj is not None and obj.api_key_cipher else {"clear_key"}
        # Shown once the form was sent with a new URL; most visits don't change it.
        if obj is None or request.method != "POST" or not find_live_copilots(obj):
            absent.add("confirm_reroute")
        return without(FIELDSETS, *absent)

    @post_only
    def approve_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Approve that another operator changes the URL of a provider."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        approval = get_object_or_404(RerouteApproval.objects.select_related("provider"), pk=pk)
        provider = approval.provider
        if approval.requested_by_id == request.user.pk:
            raise PermissionDenied
        approval.approved_by_id = request.user.pk
        approval.save(update_fields=["approved_by"])
        after = {"approved_url": approval.base_url, "requested_by": str(approval.requested_by)}
        self.audit(request, Action.CHANGED, provider, before={}, after=after)
        self.message_user(request, _("The new URL was approved."))
        return self.redirect_to(provider)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if form.rerouted:
            moved = {"base_url": obj.base_url, "live_copilots": form.rerouted}
            before = {"base_url": form.initial.get("base_url", "")}
            self.audit(request, Action.SWITCHED, obj, before=before, after=moved)
        if "name" in form.changed_data:
            rename_in_drafts(form.initial.get("name", ""), obj.name)
        if form.new_key is not None:
            set_api_key(obj, form.new_key)
        if "headers" in form.changed_data or form.headers_were_cleared:
            set_headers(obj, form.new_headers)
        if form.url_note:
            self.message_user(request, form.url_note)
        if form.key_was_cleared or form.headers_were_cleared:
            text = _(
                "The base URL, proxy or certificates now lead to another server, so the stored key "
                "and headers were deleted. Enter those of the new server."
            )
            self.message_user(request, text, level=messages.WARNING)

    def row_context(self, request: HttpRequest, row: Provider) -> dict[str, Any]:
        since = timezone.now() - APPROVAL_LIFETIME
        waiting = RerouteApproval.objects.filter(
            provider=row, approved_by=None, requested_at__gte=since
        )
        return {
            "approvals": waiting.exclude(requested_by=request.user.pk),
            "live_copilots": find_live_copilots(row),
            "models": build_model_rows(row, row.model_ids),
        }

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Protect providers of drafts and versions; Django would list each version."""
        found = list(objs)
        uses = Q(provider__in=found) | Q(versions__provider__in=found)
        uses |= Q(versions__other_providers__provider__in=found)
        n_prices = ModelPrice.objects.filter(provider__in=found).count()
        counts = {_("providers"): len(found), **({_("prices"): n_prices} if n_prices else {})}
        users = list(map(str, Copilot.objects.filter(uses).distinct().by_name()))
        return list(map(str, found)), counts, set(), users


def _record(request: HttpRequest, provider: Provider, result: CheckResult) -> None:
    if result.error:
        record_error(provider.pk, result.error)
    else:
        keep_models(provider.pk, result.models)
        add_list_prices(provider, result.models, by=Actor.of(request))
