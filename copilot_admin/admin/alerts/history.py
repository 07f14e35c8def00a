"""History: alerts, and the messages that were sent."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.accounts.members import is_reachable
from copilot_admin.admin.common.base import ReadOnlyAdmin, post_only
from copilot_admin.admin.common.widgets import chip, format_time, time_column
from copilot_admin.admin.site.site import site
from copilot_admin.alerts.deliveries import retry_delivery
from copilot_admin.alerts.messages import CONVERSATIONS
from copilot_admin.alerts.rules import READ_TRANSCRIPTS, filter_visible
from copilot_admin.models import Action, Alert, AlertDelivery, DeliveryState

RULES = "copilot_admin.change_alertrule"
DELIVERIES = "copilot_admin.view_alertdelivery"
TONES = {DeliveryState.WAITING: "info", DeliveryState.SENT: "good", DeliveryState.FAILED: "bad"}
MAX_DELIVERIES = 200  # of one alert: twenty mails a day for ten days


class StateFilter(admin.SimpleListFilter):
    title = gettext_lazy("status")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [("open", _("Open")), ("closed", _("Closed"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() in ("open", "closed"):
            return queryset.filter(closed_at__isnull=self.value() == "open")
        return queryset


class VisibleRules(admin.RelatedFieldListFilter):
    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> Any:
        rules = filter_visible(request.user, Alert.objects.order_by()).values("rule")
        ordering = self.field_admin_ordering(field, request, model_admin)
        return field.get_choices(
            include_blank=False, ordering=ordering, limit_choices_to={"pk__in": rules}
        )


@admin.register(Alert, site=site)
class AlertAdmin(ReadOnlyAdmin[Alert]):
    change_form_template = "admin/copilot_admin/alert/change_form.html"
    list_display = ("sentence", "rule", "status", "opened", "closed", "notified")
    columns = {"sentence": "grow", "rule": "medium", "closed": "wide"}
    list_filter = (StateFilter, ("rule", VisibleRules))
    list_select_related = ("rule",)
    search_fields = ("sentence", "rule__name")
    search_help_text = gettext_lazy("Text or rule")
    fields = ("sentence", "rule_name", "status", "opened", "closed", "notified")
    readonly_fields = fields
    actions = None
    empty_icon = "bell"
    empty_state = gettext_lazy("An alert opens when the condition of a rule is met.")

    @admin.display(description=gettext_lazy("Rule"))
    def rule_name(self, alert: Alert) -> str:
        return alert.rule.name

    @admin.display(description=gettext_lazy("Status"), ordering="closed_at")
    def status(self, alert: Alert) -> SafeString:
        is_open = alert.closed_at is None
        return chip(_("Open"), "bad") if is_open else chip(_("Closed"), "good")

    opened = time_column("opened_at", gettext_lazy("Opened"))
    closed = time_column("closed_at", gettext_lazy("Closed"), blank=gettext_lazy("Still open"))

    @admin.display(description=gettext_lazy("Notification"))
    def notified(self, alert: Any) -> SafeString:
        if alert.told_at is None:
            return chip(_("Muted"))
        if alert.n_failed:
            return chip(_("Delivery failed"), "bad")
        if alert.n_waiting:
            return chip(_("Sending"), "info")
        return chip(_("Delivered"), "good") if alert.n_sent else chip(_("No recipients"), "warn")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Alert]:
        rows = filter_visible(request.user, super().get_queryset(request))
        states = {one: Q(deliveries__state=one) for one in DeliveryState}
        return rows.annotate(
            **{f"n_{one.value}": Count("deliveries", filter=states[one]) for one in states}
        )

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        # Builders may not read the recipients of a rule, not even letter by letter.
        return lookup in ("state", "rule__id__exact")

    def row_context(self, request: HttpRequest, row: Alert) -> dict[str, Any]:
        copilot = row.rule.copilot
        deliveries = row.deliveries.select_related("webhook").order_by("made_at")
        return {
            "may_read": request.user.has_perm(READ_TRANSCRIPTS),
            "conversations_url": f"{reverse(CONVERSATIONS)}?{row.query}",
            "copilot": copilot if copilot and is_reachable(request.user, copilot.pk) else None,
            "may_see_deliveries": request.user.has_perm(DELIVERIES),
            "deliveries": deliveries[:MAX_DELIVERIES],
        }


@admin.register(AlertDelivery, site=site)
class DeliveryAdmin(ReadOnlyAdmin[AlertDelivery]):
    row_views = ("again",)
    change_form_template = "admin/copilot_admin/alertdelivery/change_form.html"
    list_display = ("subject", "recipient", "event", "status_chip", "attempts", "answer", "made")
    columns = {"subject": "grow", "event": "wide", "attempts": "num wide", "answer": "medium"}
    list_filter = ("state", "event", "webhook")
    list_select_related = ("webhook",)
    search_fields = ("subject", "to")
    search_help_text = gettext_lazy("Subject or recipient")
    fields = (
        *("subject", "recipient", "event", "status_chip", "attempts", "next_attempt"),
        *("full_answer", "made", "message"),
    )
    readonly_fields = fields
    actions = None
    empty_icon = "send"
    empty_state = gettext_lazy("Messages of alert rules and digests appear here.")

    @admin.display(description=gettext_lazy("To"))
    def recipient(self, delivery: AlertDelivery) -> str:
        return delivery.webhook.name if delivery.webhook else delivery.to

    @admin.display(description=gettext_lazy("Status"), ordering="state")
    def status_chip(self, delivery: AlertDelivery) -> SafeString:
        state = DeliveryState(delivery.state)
        return chip(state.label, TONES[state])

    @admin.display(description=gettext_lazy("Response"))
    def answer(self, delivery: AlertDelivery) -> str:
        return f"{delivery.status or ''} {delivery.answer[:60]}".strip()

    @admin.display(description=gettext_lazy("Response"))
    def full_answer(self, delivery: AlertDelivery) -> str:
        return f"{delivery.status or ''} {delivery.answer}".strip()

    @admin.display(description=gettext_lazy("Next attempt"))
    def next_attempt(self, delivery: AlertDelivery) -> SafeString | str:
        return format_time(delivery.due_at) if delivery.state == DeliveryState.WAITING else ""

    made = time_column("made_at", gettext_lazy("Created"))

    @admin.display(description=gettext_lazy("Message"))
    def message(self, delivery: AlertDelivery) -> SafeString:
        return format_html('<pre class="ca-code" tabindex="0" dir="auto">{}</pre>', delivery.body)

    def row_context(self, request: HttpRequest, row: AlertDelivery) -> dict[str, Any]:
        return {"may_retry": request.user.has_perm(RULES)}

    @post_only
    @transaction.atomic
    def again_view(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        delivery = get_object_or_404(self.get_queryset(request), pk=pk)
        if not (self.has_view_permission(request, delivery) and request.user.has_perm(RULES)):
            raise PermissionDenied
        if retry_delivery(delivery):
            self.audit(request, Action.SENT, delivery, after={"event": delivery.event})
            messages.success(request, _("The message is being sent again."))
        else:
            messages.info(request, _("This delivery has changed. Check its status."))
        return self.redirect_to(delivery)
