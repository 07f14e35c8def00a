"""What was wrong, and what was told: alerts and deliveries, read and sent again."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from copilot_admin.admin.alerts.read_only import ReadOnly
from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.admin.site.site import site
from copilot_admin.alerts.deliveries import retry_delivery
from copilot_admin.alerts.messages import CONVERSATIONS
from copilot_admin.alerts.rules import READ_TRANSCRIPTS, filter_visible
from copilot_admin.models import Action, Alert, AlertDelivery, DeliveryState

RULES = "copilot_admin.change_alertrule"
DELIVERIES = "copilot_admin.view_alertdelivery"
TONES = {DeliveryState.WAITING: "info", DeliveryState.SENT: "good", DeliveryState.FAILED: "bad"}
MOST_SHOWN = 200  # deliveries of one alert: twenty mails a day for ten days


class OpenFilter(admin.SimpleListFilter):
    """Alerts that are open, and those that were."""

    title = gettext_lazy("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [("open", _("Open")), ("closed", _("Closed"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "open":
                return queryset.filter(closed_at=None)
            case "closed":
                return queryset.exclude(closed_at=None)
        return queryset


class KnownRules(admin.RelatedFieldListFilter):
    """The rules of the alerts that somebody may know of."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> Any:
        rules = filter_visible(request.user, Alert.objects.order_by()).values("rule")
        ordering = self.field_admin_ordering(field, request, model_admin)
        return field.get_choices(
            include_blank=False, ordering=ordering, limit_choices_to={"pk__in": rules}
        )


@admin.register(Alert, site=site)
class AlertAdmin(ReadOnly, BaseAdmin[Alert]):
    """The history of alerts."""

    list_display = ("sentence", "rule", "standing", "opened_at", "closed_at", "told_at")
    list_filter = (OpenFilter, ("rule", KnownRules))
    list_select_related = ("rule",)
    search_fields = ("sentence", "rule__name")
    search_help_text = gettext_lazy("Words of the alert, or name of the rule")
    page_template = "admin/copilot_admin/alert/page.html"
    empty_state: str | Promise = gettext_lazy("There was no alert. Rules say what would be one.")

    @admin.display(description=gettext_lazy("State"), ordering="closed_at")
    def standing(self, alert: Alert) -> SafeString:
        """Whether the alert is open or closed, as a badge."""
        label, tone = (_("Open"), "bad") if alert.closed_at is None else (_("Closed"), "good")
        return render_to_string("admin/includes/badge.html", {"label": label, "tone": tone})

    def get_queryset(self, request: HttpRequest) -> QuerySet[Alert]:
        return filter_visible(request.user, super().get_queryset(request))

    def facts(self, request: HttpRequest, row: Alert) -> dict[str, Any]:
        """An alert, what people said, and what was told of it."""
        may_read = request.user.has_perm(READ_TRANSCRIPTS)
        may_see = request.user.has_perm(DELIVERIES)
        deliveries = row.deliveries.select_related("webhook").order_by("made_at")
        return {
            "alert": row,
            "list_url": f"{reverse(CONVERSATIONS)}?{row.query}" if may_read else "",
            "deliveries": deliveries[:MOST_SHOWN] if may_see else (),
            "may_see_deliveries": may_see,
        }


@admin.register(AlertDelivery, site=site)
class DeliveryAdmin(ReadOnly, BaseAdmin[AlertDelivery]):
    """The log of deliveries."""

    list_display = ("subject", "to_whom", "event", "shown_state", "attempts", "status", "made_at")
    list_filter = ("state", "event", "webhook")
    list_select_related = ("webhook",)
    search_fields = ("subject", "to")
    search_help_text = gettext_lazy("Subject or recipient")
    page_template = "admin/copilot_admin/alertdelivery/page.html"
    empty_state: str | Promise = gettext_lazy(
        "Nothing was sent yet. Rules and digests say what is, and to whom."
    )

    def get_urls(self) -> list[URLPattern]:
        again = path(
            "<uuid:pk>/again/",
            self.admin_site.admin_view(self.again_view),
            name="copilot_admin_alertdelivery_again",
        )
        return [again, *super().get_urls()]

    @admin.display(description=gettext_lazy("To"))
    def to_whom(self, delivery: AlertDelivery) -> str:
        """The address or the name of the webhook."""
        return delivery.webhook.name if delivery.webhook else delivery.to

    @admin.display(description=gettext_lazy("State"), ordering="state")
    def shown_state(self, delivery: AlertDelivery) -> SafeString:
        """What became of the message, in words."""
        state = DeliveryState(delivery.state)
        context = {"label": state.label, "tone": TONES[state]}
        return render_to_string("admin/includes/badge.html", context)

    def facts(self, request: HttpRequest, row: AlertDelivery) -> dict[str, Any]:
        """A message, and what became of it."""
        return {
            "delivery": row,
            "state": self.shown_state(row),
            "may_send": bool(row.body) and request.user.has_perm(RULES),
        }

    @method_decorator(require_POST)
    def again_view(self, request: HttpRequest, pk: Any) -> HttpResponse:
        """Sends a message again that was not delivered."""
        if not (self.has_view_permission(request) and request.user.has_perm(RULES)):
            raise PermissionDenied
        delivery = get_object_or_404(AlertDelivery.objects.select_related("alert"), pk=pk)
        if not delivery.body:  # its text was deleted
            raise PermissionDenied
        with transaction.atomic():
            is_sent = retry_delivery(delivery)
            if is_sent:
                self.audit(request, Action.SENT, delivery, after={"event": delivery.event})
        if is_sent:
            messages.success(request, _("It is on its way again."))
        else:
            messages.info(request, _("Something became of it meanwhile. Look at it again."))
        address = reverse("admin:copilot_admin_alertdelivery_change", args=[pk])
        return HttpResponseRedirect(address)
