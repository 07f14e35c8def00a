"""Alert rules: the kind is chosen first, then threshold, copilots and recipients."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.alerts.forms import RECIPIENTS, SCOPE, RuleForm
from copilot_admin.admin.alerts.sending import ButtonAdmin, describe_scope
from copilot_admin.admin.common.html import chip
from copilot_admin.admin.site.site import site
from copilot_admin.alerts.deliveries import create_deliveries
from copilot_admin.alerts.messages import build_test_message, describe_condition
from copilot_admin.alerts.rule_kinds import RULE_KINDS
from copilot_admin.alerts.rules import RuleKind
from copilot_admin.models import Action, Alert, AlertRule

FOLDER = "admin/copilot_admin/alertrule"
MAX_ALERTS = 10  # latest alerts on the page of a rule


@admin.register(AlertRule, site=site)
class RuleAdmin(ButtonAdmin[AlertRule]):
    buttons = {"test": "send_test"}
    change_form_template = f"{FOLDER}/change_form.html"
    list_display = ("name", "watches", "condition", "about", "status")
    columns = {"condition": "grow", "about": "wide"}
    list_filter = ("enabled",)
    list_select_related = ("copilot", "webhook")
    search_fields = ("name",)
    search_help_text = gettext_lazy("Name")
    actions = None
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

    @admin.display(description=gettext_lazy("Copilots"))
    def about(self, rule: AlertRule) -> str:
        return describe_scope(rule)

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
        if _requested_kind(request) is None:
            context = self.page_context(request, _("New alert rule"))
            context["kinds"] = RULE_KINDS.values()
            return TemplateResponse(request, f"{FOLDER}/choose.html", context)
        return super().add_view(request, form_url, extra_context)

    def get_form(
        self,
        request: HttpRequest,
        obj: AlertRule | None = None,
        change: bool = False,
        **kwargs: Any,
    ) -> Any:
        kind = RULE_KINDS.get(obj.kind) if obj else _requested_kind(request)
        kwargs["form"] = type("RuleFormOfKind", (RuleForm,), {"kind": kind})
        return super().get_form(request, obj, change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: AlertRule | None = None) -> Any:
        kind = RULE_KINDS.get(obj.kind) if obj else _requested_kind(request)
        minimum = ["minimum"] if kind and kind.minimum_label else []
        return [
            (None, {"fields": ["name", "threshold", "window", *minimum]}),
            (_("Copilots"), {"fields": [*SCOPE]}),
            (_("Recipients"), {"fields": [*RECIPIENTS]}),
            (_("Status"), {"fields": ["enabled", "muted_until"]}),
        ]

    def save_model(
        self, request: HttpRequest, obj: AlertRule, form: RuleForm, change: bool
    ) -> None:
        if form.kind is not None:
            obj.kind = form.kind.name
        obj.due_at = timezone.now()
        super().save_model(request, obj, form, change)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        rule: AlertRule | None = context["original"]
        context["kind"] = RULE_KINDS.get(rule.kind) if rule else _requested_kind(request)
        if rule is not None:
            context["alerts"] = rule.alerts.order_by("-opened_at", "-pk")[:MAX_ALERTS]
        return super().render_change_form(request, context, *args, **kwargs)

    def send_test(self, request: HttpRequest, rule: AlertRule) -> None:
        sent = create_deliveries(rule, build_test_message(rule.name, timezone.now()))
        self.audit(request, Action.TESTED, rule, after={"deliveries": len(sent)})
        self.note_sending(request, len(sent))


def _requested_kind(request: HttpRequest) -> RuleKind | None:
    return RULE_KINDS.get(request.GET.get("kind", ""))
