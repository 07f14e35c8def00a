"""The import of prices: a file is chosen, what it would change is shown, and then it is done."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.common.generics import PriceModelAdmin
from copilot_admin.admin.prices.form import ChosenPricesForm, PriceFileForm
from copilot_admin.audit.parties import Actor
from copilot_admin.copilots.model_lists import known_models
from copilot_admin.models import Provider
from copilot_admin.pricing.importing import (
    PriceEffect,
    PricePlan,
    carry_out,
    chosen,
    plan_of,
    reasons,
    record_prices,
)
from copilot_admin.pricing.litellm import BadPriceFile, read_prices, written

FOLDER = "admin/copilot_admin/modelprice"
MOST_SHOWN = 200  # lines of a plan; the others are counted
NAMED = 30  # entries that are named for each reason to skip them


class PriceImportViews(PriceModelAdmin):
    """The page of the import; whoever may add and change prices may import them."""

    def import_urls(self) -> list[URLPattern]:
        """The address of the import."""
        view = self.admin_site.admin_view(self.import_view)
        return [path("import/", view, name="copilot_admin_modelprice_import")]

    def import_view(self, request: HttpRequest) -> HttpResponseBase:
        """Asks for a file; shows what it would change; a POST of that changes it."""
        if not (self.has_add_permission(request) and self.has_change_permission(request)):
            raise PermissionDenied
        if "text" in request.POST:
            return self._take(request)
        form = PriceFileForm(
            request.POST or None,
            request.FILES or None,
            initial={"provider": request.GET.get("provider")},
        )
        if request.method == "POST" and form.is_valid():
            try:
                return self._show(request, form)
            except BadPriceFile as error:
                form.add_error("file", error.public)
        return self._page(request, "import.html", form=form)

    def _show(self, request: HttpRequest, form: PriceFileForm) -> HttpResponse:
        values = form.cleaned_data
        provider: Provider = values["provider"]
        listed = frozenset(known_models(provider.pk)) if values["only_listed"] else None
        file = read_prices(values["file"].read())
        prices, skipped = chosen(file, listed=listed, vendor=values["vendor"])
        plan = plan_of(provider, prices, day=values["day"], skipped=skipped)
        hidden = {"provider": provider.pk, "day": values["day"], "text": written(prices)}
        return self._page(
            request,
            "import_plan.html",
            plan=plan,
            provider=provider,
            day=values["day"],
            form=ChosenPricesForm(initial=hidden),
            **_figures(plan),
        )

    def _take(self, request: HttpRequest) -> HttpResponseBase:
        form = ChosenPricesForm(request.POST)
        try:
            if not form.is_valid():
                raise BadPriceFile(
                    _("What was to be imported did not arrive. Choose the file again.")
                )
            values = form.cleaned_data
            prices, _skipped = chosen(read_prices(values["text"].encode()), listed=None)
        except BadPriceFile as error:
            self.message_user(request, error.public, level=messages.ERROR)
            return HttpResponseRedirect(reverse("admin:copilot_admin_modelprice_import"))
        provider, day = values["provider"], values["day"]
        plan = plan_of(provider, prices, day=day)
        with transaction.atomic():
            made = carry_out(provider, plan, day=day)
            record_prices(plan, provider, day=day, by=Actor.of(request))
        said = ngettext(
            "%(count)d price of “%(name)s” was imported.",
            "%(count)d prices of “%(name)s” were imported.",
            made,
        )
        self.message_user(request, said % {"count": made, "name": provider.name})
        return HttpResponseRedirect(reverse("admin:copilot_admin_modelprice_changelist"))

    def _page(self, request: HttpRequest, template: str, **context: Any) -> HttpResponse:
        shared = {**self.admin_site.each_context(request), "title": _("Import prices")}
        return render(request, f"{FOLDER}/{template}", {**shared, **context})


def _figures(plan: PricePlan) -> dict[str, Any]:
    """The parts of a plan that its page shows."""
    new, changed = plan.having(PriceEffect.NEW), plan.having(PriceEffect.CHANGED)
    lines = (*changed, *new)
    return {
        "n_new": len(new),
        "n_changed": len(changed),
        "n_same": len(plan.having(PriceEffect.SAME)),
        "lines": lines[:MOST_SHOWN],
        "n_more": max(0, len(lines) - MOST_SHOWN),
        "reasons": [
            (reason, len(keys), keys[:NAMED], len(keys) > NAMED)
            for reason, keys in reasons(plan.skipped)
        ],
    }
