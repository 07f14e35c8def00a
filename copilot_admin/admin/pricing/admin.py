"""Prices of models per million tokens, valid from a day on."""

from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.html import chip
from copilot_admin.admin.pricing.form import PRICES, PriceForm, today
from copilot_admin.admin.pricing.import_views import FOLDER, PriceImportViews
from copilot_admin.admin.site.site import site
from copilot_admin.models import ModelPrice
from copilot_admin.pricing.money import format_exact
from copilot_admin.pricing.prices import find_unpriced_models

MAX_UNPRICED = 20  # models named above the list
NONE = "–"  # noqa: RUF001  # a dash


class StatusFilter(admin.SimpleListFilter):
    """Current, future and superseded prices."""

    title = gettext_lazy("status")
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [
            ("now", _("Current")),
            ("later", _("Future")),
            ("past", _("Superseded")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "now":
                return queryset.filter(valid_from__lte=today(), is_past=False)
            case "later":
                return queryset.filter(valid_from__gt=today())
            case "past":
                return queryset.filter(is_past=True)
        return queryset


@admin.register(ModelPrice, site=site)
class ModelPriceAdmin(PriceImportViews):
    """Prices."""

    form = PriceForm
    change_list_template = f"{FOLDER}/change_list.html"
    change_form_template = f"{FOLDER}/change_form.html"
    list_display = (
        "model",
        "provider",
        "valid_from",
        "status",
        "input_price",
        "cached_price",
        "output_price",
        "reasoning_price",
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
        return (
            chip(_("Superseded"))
            if getattr(price, "is_past", False)
            else chip(_("Current"), "good")
        )

    @admin.display(description=gettext_lazy("Input"), ordering="input")
    def input_price(self, price: ModelPrice) -> str:
        return _format(price.input)

    @admin.display(description=gettext_lazy("Cached"), ordering="cached")
    def cached_price(self, price: ModelPrice) -> str:
        return _format(price.cached)

    @admin.display(description=gettext_lazy("Output"), ordering="output")
    def output_price(self, price: ModelPrice) -> str:
        return _format(price.output)

    @admin.display(description=gettext_lazy("Reasoning"), ordering="reasoning")
    def reasoning_price(self, price: ModelPrice) -> str:
        return _format(price.reasoning)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ModelPrice]:
        prices: QuerySet[ModelPrice] = super().get_queryset(request)
        later = ModelPrice.objects.filter(
            provider=OuterRef("provider"),
            model=OuterRef("model"),
            valid_from__gt=OuterRef("valid_from"),
            valid_from__lte=today(),
        )
        return prices.annotate(is_past=Exists(later))

    def get_urls(self) -> list[URLPattern]:
        return self.import_urls() + super().get_urls()

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        initial: dict[str, Any] = super().get_changeform_initial_data(request)
        return {"valid_from": today(), **initial}

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        unpriced = find_unpriced_models() if self.has_view_permission(request) else ()
        more = {
            "unpriced": unpriced[:MAX_UNPRICED],
            "n_more_unpriced": max(0, len(unpriced) - MAX_UNPRICED),
        }
        return super().changelist_view(request, {**(extra_context or {}), **more})

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        price: ModelPrice | None = context["original"]
        if price is not None:
            found = self.get_queryset(request).filter(provider=price.provider_id, model=price.model)
            context["history"] = found.order_by("-valid_from")
        return super().render_change_form(request, context, *args, **kwargs)


def _format(price: Decimal | None) -> str:
    return NONE if price is None else f"${format_exact(price)}"
