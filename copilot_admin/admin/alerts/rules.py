"""Pages of alert rules, whose kind is chosen first, and of weekly digests."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.dates import WEEKDAYS
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from copilot_admin.admin.alerts.forms import RECIPIENTS, SCOPE, DigestForm, RuleForm
from copilot_admin.admin.common.base import BaseAdmin, Row, row_action
from copilot_admin.admin.common.widgets import chip
from copilot_admin.admin.site.site import site
from copilot_admin.alerts.deliveries import create_deliveries
from copilot_admin.alerts.digests import create_digest, next_due
from copilot_admin.alerts.messages import build_test_message, describe_condition
from copilot_admin.alerts.rule_kinds import RULE_KINDS
from copilot_admin.alerts.rules import RuleKind
from copilot_admin.models import Action, Alert, AlertDigest, AlertRule

FOLDER = "admin/copilot_admin/alertrule"
MAX_ALERTS = 10  # latest alerts on the page of a rule


class NotifierAdmin(BaseAdmin[Row]):
    list_select_related = ("copilot", "webhook")
    search_fields = ("name",)
    search_help_text = gettext_lazy("Name")
    actions = None

    @admin.display(description=gettext_lazy("Copilots"))
    def about(self, owner: Any) -> str:
        if owner.copilot is not None:
            return str(owner.copilot.name)
        return _("Tag: %(tag)s") % {"tag": owner.tag} if owner.tag else _("All copilots")

    def note_sending(self, request: HttpRequest, action: Action, row: Row, count: int) -> None:
        self.audit(request, action, row, after={"deliveries": count})
        text = ngettext(
            "%(n)d message is being sent. See Deliveries for the result.",
            "%(n)d messages are being sent. See Deliveries for the results.",
            count,
        )
        messages.success(request, text % {"n": count})


@admin.register(AlertRule, site=site)
class RuleAdmin(NotifierAdmin[AlertRule]):
    row_views = ("test",)
    change_form_template = f"{FOLDER}/change_form.html"
    list_display = ("name", "watches", "condition", "about", "status")
    columns = {"condition": "grow", "about": "wide"}
    list_filter = ("enabled",)
    empty_icon = "bell"
    empty_state = gettext_lazy(
        "A rule sends a message about thumbs down, errors, a failing provider, unusually low usage "
        "or a budget."
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[AlertRule]:
        rows: QuerySet[AlertRule] = super().get_queryset(request)
        open_ones = Alert.objects.filter(rule=OuterRef("pk"), closed_at=None)
        return rows.annotate(open_since=Subquery(open_ones.values("opened_at")[:1]))

    @admin.display(description=gettext_lazy("Alerts about"), ordering="kind")
    def watches(self, rule: AlertRule) -> str:
        kind = RULE_KINDS.get(rule.kind)
        return str(kind.label) if kind else rule.kind

    @admin.display(description=gettext_lazy("Condition"))
    def condition(self, rule: AlertRule) -> str:
        kind = RULE_KINDS.get(rule.kind)
        return describe_condition(kind, rule) if kind else ""

    @admin.display(description=gettext_lazy("Status"))
    def status(self, rule: AlertRule) -> SafeString:
        if not rule.enabled:
            return chip(_("Off"))
        if getattr(rule, "open_since", None) is not None:
            return chip(_("Alert open"), "bad")
        if rule.muted_until is not None and rule.muted_until > timezone.now():
            return chip(_("Muted"), "warn")
        return chip(_("OK"), "good")

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        kind = _get_kind(request, None)
        if kind is None:
            context = self.page_context(request, _("New alert rule"))
            context["kinds"] = RULE_KINDS.values()
            return TemplateResponse(request, f"{FOLDER}/choose.html", context)
        return super().add_view(request, form_url, {"kind": kind})

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        kwargs["form"] = type("RuleFormOfKind", (RuleForm,), {"kind": _get_kind(request, obj)})
        return super().get_form(request, obj, change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: AlertRule | None = None) -> Any:
        kind = _get_kind(request, obj)
        minimum = ["minimum"] if kind and kind.minimum_label else []
        return [
            (None, {"fields": ["name", "threshold", "window", *minimum]}),
            (_("Copilots"), {"fields": [*SCOPE]}),
            (_("Recipients"), {"fields": [*RECIPIENTS]}),
            (_("Status"), {"fields": ["enabled", "muted_until"]}),
        ]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if form.kind is not None:
            obj.kind = form.kind.name
        obj.due_at = timezone.now()
        super().save_model(request, obj, form, change)

    def row_context(self, request: HttpRequest, row: AlertRule) -> dict[str, Any]:
        alerts = row.alerts.order_by("-opened_at", "-pk")[:MAX_ALERTS]
        return {"kind": _get_kind(request, row), "alerts": alerts}

    @row_action
    def test_view(self, request: HttpRequest, rule: AlertRule) -> None:
        sent = create_deliveries(rule, build_test_message(rule.name, timezone.now()))
        self.note_sending(request, Action.TESTED, rule, len(sent))


def _get_kind(request: HttpRequest, rule: AlertRule | None) -> RuleKind | None:
    return RULE_KINDS.get(rule.kind if rule else request.GET.get("kind", ""))


@admin.register(AlertDigest, site=site)
class DigestAdmin(NotifierAdmin[AlertDigest]):
    form = DigestForm
    row_views = ("now",)
    change_form_template = "admin/copilot_admin/alertdigest/change_form.html"
    list_display = ("name", "about", "when", "status")
    columns = {"about": "grow"}
    fieldsets = (
        (None, {"fields": ["name", ("weekday", "hour")]}),
        (gettext_lazy("Copilots"), {"fields": [*SCOPE]}),
        (gettext_lazy("Recipients"), {"fields": [*RECIPIENTS]}),
        (gettext_lazy("Status"), {"fields": ["enabled"]}),
    )
    empty_icon = "mail"
    empty_state = gettext_lazy(
        "A digest is sent once a week: conversations, outcomes, feedback and cost, compared with "
        "the week before."
    )

    @admin.display(description=gettext_lazy("Sent"))
    def when(self, digest: AlertDigest) -> str:
        day = WEEKDAYS.get(digest.weekday, "")
        return _("%(day)s, %(hour)02d:00 UTC") % {"day": day, "hour": digest.hour}

    @admin.display(description=gettext_lazy("Status"), ordering="enabled")
    def status(self, digest: AlertDigest) -> SafeString:
        return chip(_("On"), "good") if digest.enabled else chip(_("Off"))

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        obj.due_at = next_due(obj, timezone.now())
        super().save_model(request, obj, form, change)

    @row_action
    def now_view(self, request: HttpRequest, digest: AlertDigest) -> None:
        self.note_sending(request, Action.SENT, digest, len(create_digest(digest, timezone.now())))
