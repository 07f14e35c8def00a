"""Prices of models per million tokens, valid from a day on."""

from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from copilot_admin.admin.common.base import BaseAdmin, post_only
from copilot_admin.admin.common.widgets import chip
from copilot_admin.admin.site.site import site
from copilot_admin.audit.recording import Actor
from copilot_admin.models import ModelPrice, Provider
from copilot_admin.pricing.cost import format_exact
from copilot_admin.pricing.price_list import add_list_prices
from copilot_admin.pricing.prices import find_unpriced_models

PRICES = ("input", "cached", "output", "reasoning")
FOLDER = "admin/copilot_admin/modelprice"
MAX_UNPRICED = 20  # models named above the list


def today() -> date:
    """Return the current day in UTC, in which prices start."""
    return datetime.now(UTC).date()


class PriceForm(ModelForm[ModelPrice]):
    class Meta:
        widgets: ClassVar[dict[str, forms.Widget]] = {
            kind: forms.NumberInput(attrs={"step": "any", "min": "0"}) for kind in PRICES
        }
        help_texts: ClassVar[dict[str, str | Promise]] = {
            "model": gettext_lazy("The exact model ID."),
            "valid_from": gettext_lazy("From midnight UTC until the next price of the model."),
            "input": gettext_lazy("Enter 0 if it is free."),
            "cached": gettext_lazy("Leave blank to bill cached tokens as normal input (estimate)."),
            "output": gettext_lazy("Enter 0 if it is free."),
            "reasoning": gettext_lazy("Leave blank to bill reasoning as normal output (estimate)."),
            "exact_up_to": gettext_lazy(
                "Input tokens up to which the price applies. Costs above it are estimates. Leave blank "
                "if there is no such limit."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind in PRICES:
            amount = self.initial.get(kind)
            if isinstance(amount, Decimal):
                self.initial[kind] = format_exact(amount)


class StatusFilter(admin.SimpleListFilter):
    title = gettext_lazy("status")
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [("now", _("Current")), ("later", _("Future")), ("past", _("Superseded"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "now":
                return queryset.filter(valid_from__lte=today(), is_past=False)
            case "later":
                return queryset.filter(valid_from__gt=today())
            case "past":
                return queryset.filter(is_past=True)
        return queryset


def _price_column(kind: str, label: Any) -> Callable[[Any, ModelPrice], str]:
    @admin.display(description=label, ordering=kind)
    def format_price(_admin: Any, row: ModelPrice) -> str:
        price: Decimal | None = getattr(row, kind)
        return "–" if price is None else f"${format_exact(price)}"  # noqa: RUF001  # a dash

    return format_price


@admin.register(ModelPrice, site=site)
class ModelPriceAdmin(BaseAdmin[ModelPrice]):
    form = PriceForm
    routes = {"published": "published/"}
    change_list_template = f"{FOLDER}/change_list.html"
    change_form_template = f"{FOLDER}/change_form.html"
    list_display = (
        *("model", "provider", "valid_from", "status"),
        *("input_price", "cached_price", "output_price", "reasoning_price"),
    )
    list_select_related = ("provider",)
    list_filter = (StatusFilter, "provider")
    list_per_page = 100
    columns = {
        "model": "grow",
        "input_price": "num",
        "cached_price": "num wide",
        "output_price": "num",
        "reasoning_price": "num wide",
    }
    search_fields = ("model", "provider__name", "note")
    search_help_text = gettext_lazy("Model, provider or note")
    ordering = ("provider__name", "model", "-valid_from")
    actions = None
    empty_icon = "dollar"
    empty_state = gettext_lazy("Without prices, the cost of answers is unknown.")
    fieldsets = (
        (None, {"fields": ["provider", "model", "valid_from"]}),
        (gettext_lazy("US dollars per million tokens"), {"fields": [*PRICES]}),
        (gettext_lazy("More"), {"fields": ["exact_up_to", "note"]}),
    )

    @admin.display(description=gettext_lazy("Status"))
    def status(self, price: ModelPrice) -> SafeString:
        if price.valid_from > today():
            return chip(_("Future"), "info")
        is_past = getattr(price, "is_past", False)
        return chip(_("Superseded")) if is_past else chip(_("Current"), "good")

    input_price = _price_column("input", gettext_lazy("Input"))
    cached_price = _price_column("cached", gettext_lazy("Cached"))
    output_price = _price_column("output", gettext_lazy("Output"))
    reasoning_price = _price_column("reasoning", gettext_lazy("Reasoning"))

    def get_queryset(self, request: HttpRequest) -> QuerySet[ModelPrice]:
        prices: QuerySet[ModelPrice] = super().get_queryset(request)
        later = ModelPrice.objects.filter(
            provider=OuterRef("provider"),
            model=OuterRef("model"),
            valid_from__gt=OuterRef("valid_from"),
            valid_from__lte=today(),
        )
        return prices.annotate(is_past=Exists(later))

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        initial: dict[str, Any] = super().get_changeform_initial_data(request)
        return {"valid_from": today(), **initial}

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        unpriced = find_unpriced_models() if self.has_view_permission(request) else ()
        n_more = max(0, len(unpriced) - MAX_UNPRICED)
        more = {"unpriced": unpriced[:MAX_UNPRICED], "n_more_unpriced": n_more}
        return super().changelist_view(request, more)

    def row_context(self, request: HttpRequest, row: ModelPrice) -> dict[str, Any]:
        found = self.get_queryset(request).filter(provider=row.provider_id, model=row.model)
        return {"history": found.order_by("-valid_from")}

    @post_only
    def published_view(self, request: HttpRequest) -> HttpResponseBase:
        """Add the published prices of models in use that have none."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        models: defaultdict[Provider, list[str]] = defaultdict(list)
        for one in find_unpriced_models():
            models[one.provider].append(one.model)
        by = Actor.of(request)
        added = sum(add_list_prices(provider, names, by=by) for provider, names in models.items())
        if added:
            text = ngettext("Added %(count)d price.", "Added %(count)d prices.", added)
            self.message_user(request, text % {"count": added})
        else:
            text = _("No published price was found for these models. Add their prices by hand.")
            self.message_user(request, text, level=messages.WARNING)
        return HttpResponseRedirect(reverse("admin:copilot_admin_modelprice_changelist"))
