"""Pages of the import of prices: choose a file, see the changes, apply them."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.admin.pricing.form import ChosenPricesForm, PriceFileForm
from copilot_admin.audit.parties import Actor
from copilot_admin.copilots.model_lists import known_models
from copilot_admin.models import ModelPrice, Provider
from copilot_admin.pricing.imports import (
    ImportPlan,
    PriceEffect,
    apply_plan,
    build_plan,
    group_by_reason,
    select_prices,
)
from copilot_admin.pricing.litellm import InvalidPriceFile, dump_price_file, parse_price_file

FOLDER = "admin/copilot_admin/modelprice"
MAX_SHOWN = 200  # lines of a plan
MAX_SKIPPED = 30  # entries named for each reason


class PriceImportViews(BaseAdmin[ModelPrice]):
    """Import of prices, for people who may add and change them."""

    def import_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.import_view)
        return [path("import/", view, name="copilot_admin_modelprice_import")]

    def import_view(self, request: HttpRequest) -> HttpResponseBase:
        """Ask for a file, show its changes, and apply them after a confirmation."""
        if not (self.has_add_permission(request) and self.has_change_permission(request)):
            raise PermissionDenied
        if "text" in request.POST:
            return self._import(request)
        form = PriceFileForm(
            request.POST or None,
            request.FILES or None,
            initial={"provider": request.GET.get("provider")},
        )
        if request.method == "POST" and form.is_valid():
            try:
                return self._show(request, form)
            except InvalidPriceFile as error:
                form.add_error("file", error.public)
        return self._page(request, "import.html", form=form)

    def _show(self, request: HttpRequest, form: PriceFileForm) -> HttpResponse:
        values = form.cleaned_data
        provider: Provider = values["provider"]
        listed = frozenset(known_models(provider.pk)) if values["only_listed"] else None
        file = parse_price_file(values["file"].read())
        prices, skipped = select_prices(file, listed=listed, vendor=values["vendor"])
        plan = build_plan(provider, prices, day=values["day"], skipped=skipped)
        hidden = {"provider": provider.pk, "day": values["day"], "text": dump_price_file(prices)}
        return self._page(
            request,
            "import_plan.html",
            plan=plan,
            provider=provider,
            day=values["day"],
            form=ChosenPricesForm(initial=hidden),
            **_describe_plan(plan),
        )

    def _import(self, request: HttpRequest) -> HttpResponseBase:
        form = ChosenPricesForm(request.POST)
        try:
            if not form.is_valid():
                raise InvalidPriceFile(_("The prices were not received. Choose the file again."))
            values = form.cleaned_data
            prices, _skipped = select_prices(parse_price_file(values["text"].encode()), listed=None)
        except InvalidPriceFile as error:
            self.message_user(request, error.public, level=messages.ERROR)
            return HttpResponseRedirect(reverse("admin:copilot_admin_modelprice_import"))
        provider, day = values["provider"], values["day"]
        plan = build_plan(provider, prices, day=day)
        made = apply_plan(provider, plan, day=day, by=Actor.of(request))
        said = ngettext(
            "Imported %(count)d price of “%(name)s”.",
            "Imported %(count)d prices of “%(name)s”.",
            made,
        )
        self.message_user(request, said % {"count": made, "name": provider.name})
        return HttpResponseRedirect(reverse("admin:copilot_admin_modelprice_changelist"))

    def _page(self, request: HttpRequest, template: str, **context: Any) -> HttpResponse:
        shared = {**self.admin_site.each_context(request), "title": _("Import prices")}
        return render(request, f"{FOLDER}/{template}", {**shared, **context})


def _describe_plan(plan: ImportPlan) -> dict[str, Any]:
    new, changed = plan.with_effect(PriceEffect.NEW), plan.with_effect(PriceEffect.CHANGED)
    lines = (*changed, *new)
    return {
        "n_new": len(new),
        "n_changed": len(changed),
        "n_same": len(plan.with_effect(PriceEffect.SAME)),
        "lines": lines[:MAX_SHOWN],
        "n_more": max(0, len(lines) - MAX_SHOWN),
        "reasons": [
            (reason, len(keys), keys[:MAX_SKIPPED], len(keys) > MAX_SKIPPED)
            for reason, keys in group_by_reason(plan.skipped)
        ],
    }
