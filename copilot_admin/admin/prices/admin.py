"""Prices in the admin: for operators."""

from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import URLPattern
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.prices.form import PRICES, PriceForm, today
from copilot_admin.admin.prices.import_views import FOLDER, PriceImportViews
from copilot_admin.admin.site.site import site
from copilot_admin.models import ModelPrice
from copilot_admin.pricing.money import format_exact
from copilot_admin.pricing.prices import find_unpriced_models

MOST_UNPRICED = 20  # models that are named at the head of the list
NONE = "–"  # noqa: RUF001  # a dash


class StandingFilter(admin.SimpleListFilter):
    """Prices that are valid now, begin later, or were followed by another."""

    title = gettext_lazy("standing")
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [
            ("now", _("Valid now")),
            ("later", _("Begins later")),
            ("past", _("Followed by another")),
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
    """The pages of prices."""

    form = PriceForm
    change_list_template = f"{FOLDER}/change_list.html"
    change_form_template = f"{FOLDER}/change_form.html"
    list_display = (
        "model",
        "provider",
        "valid_from",
        "standing",
        "input_price",
        "cached_price",
        "output_price",
        "reasoning_price",
    )
    list_select_related = ("provider",)
    list_filter = (StandingFilter, "provider")
    list_per_page = 100
    show_facets = admin.ShowFacets.NEVER
    search_fields = ("model", "provider__name", "note")
    search_help_text = gettext_lazy("Model, provider or note")
    ordering = ("provider__name", "model", "-valid_from")
    actions = None
    empty_state = gettext_lazy(
        "There is no price yet, so the cost of every answer is unknown. Add the price of a model, or "
        "import those that LiteLLM publishes."
    )
    fieldsets = (
        (None, {"fields": ["provider", "model", "valid_from"]}),
        (gettext_lazy("US dollars for a million tokens"), {"fields": [*PRICES]}),
        (gettext_lazy("More"), {"fields": ["exact_up_to", "note"]}),
    )

    @admin.display(description=gettext_lazy("Standing"))
    def standing(self, price: ModelPrice) -> SafeString:
        """Whether it counts now, in words."""
        if price.valid_from > today():
            label, tone = _("Begins later"), "info"
        elif getattr(price, "is_past", False):
            label, tone = _("Followed by another"), "muted"
        else:
            label, tone = _("Valid now"), "good"
        return render_to_string("admin/includes/badge.html", {"label": label, "tone": tone})

    @admin.display(description=gettext_lazy("Input"), ordering="input")
    def input_price(self, price: ModelPrice) -> str:
        """What a million tokens cost that are read."""
        return _shown(price.input)

    @admin.display(description=gettext_lazy("Cached"), ordering="cached")
    def cached_price(self, price: ModelPrice) -> str:
        """What a million tokens cost that are read again."""
        return _shown(price.cached)

    @admin.display(description=gettext_lazy("Output"), ordering="output")
    def output_price(self, price: ModelPrice) -> str:
        """What a million tokens cost that are written."""
        return _shown(price.output)

    @admin.display(description=gettext_lazy("Reasoning"), ordering="reasoning")
    def reasoning_price(self, price: ModelPrice) -> str:
        """What a million tokens cost that are thought."""
        return _shown(price.reasoning)

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
        """What the address says of a new price, which begins today unless it says more."""
        initial: dict[str, Any] = super().get_changeform_initial_data(request)
        return {"valid_from": today(), **initial}

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        unpriced = find_unpriced_models() if self.has_view_permission(request) else ()
        more = {
            "unpriced": unpriced[:MOST_UNPRICED],
            "n_more_unpriced": max(0, len(unpriced) - MOST_UNPRICED),
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


def _shown(price: Decimal | None) -> str:
    return NONE if price is None else f"${format_exact(price)}"
