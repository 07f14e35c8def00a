"""Rules in the admin: chosen by what they watch, tried with a test, muted for a while."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from copilot_admin.admin.alerts.forms import WHICH, WHO, RuleForm
from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.admin.site.site import site
from copilot_admin.alerts.deliveries import create_deliveries
from copilot_admin.alerts.messages import build_test_message, describe_condition
from copilot_admin.alerts.rule_kinds import RULE_KINDS
from copilot_admin.alerts.rules import READ_TRANSCRIPTS, RuleKind, get_scope
from copilot_admin.models import Action, Alert, AlertRule

FOLDER = "admin/copilot_admin/alertrule"
LATEST = 10


@admin.register(AlertRule, site=site)
class RuleAdmin(BaseAdmin[AlertRule]):
    """The pages of rules."""

    change_form_template = f"{FOLDER}/change_form.html"
    list_display = ("name", "watches", "tells", "about", "standing")
    list_filter = ("enabled",)
    list_select_related = ("copilot", "webhook")
    list_per_page = 100
    show_facets = admin.ShowFacets.NEVER
    search_fields = ("name",)
    search_help_text = gettext_lazy("Name")
    actions = None
    empty_state = gettext_lazy(
        "There is no rule yet, so nobody is told of anything. Add one for thumbs down, errors, a "
        "failing provider, silence or a budget."
    )

    def get_urls(self) -> list[URLPattern]:
        trial = path(
            "<id:pk>/test/",
            self.admin_site.admin_view(self.trial_view),
            name="copilot_admin_alertrule_test",
        )
        return [trial, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[AlertRule]:
        rows: QuerySet[AlertRule] = super().get_queryset(request)
        open_ones = Alert.objects.filter(rule=OuterRef("pk"), closed_at=None)
        return rows.annotate(open_since=Subquery(open_ones.values("opened_at")[:1]))

    @admin.display(description=gettext_lazy("Watches"), ordering="kind")
    def watches(self, rule: AlertRule) -> str:
        """The kind of the rule, in words."""
        kind = RULE_KINDS.get(rule.kind)
        return str(kind.label) if kind else rule.kind

    @admin.display(description=gettext_lazy("Tells"))
    def tells(self, rule: AlertRule) -> str:
        """From when on somebody is told."""
        kind = RULE_KINDS.get(rule.kind)
        return describe_condition(kind, rule) if kind else "-"

    @admin.display(description=gettext_lazy("About"))
    def about(self, rule: AlertRule) -> str:
        """Which copilots it is about."""
        return get_scope(rule).label

    @admin.display(description=gettext_lazy("State"))
    def standing(self, rule: AlertRule) -> SafeString:
        """How it stands, in words."""
        label, tone = _standing(rule)
        return render_to_string("admin/includes/badge.html", {"label": label, "tone": tone})

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        if _kind_in(request) is None:
            context = {
                **self.page_context(request, _("New alert rule")),
                "kinds": RULE_KINDS.values(),
            }
            return TemplateResponse(request, f"{FOLDER}/choose.html", context)
        return super().add_view(request, form_url, extra_context)

    def get_form(
        self,
        request: HttpRequest,
        obj: AlertRule | None = None,
        change: bool = False,
        **kwargs: Any,
    ) -> Any:
        kind = RULE_KINDS.get(obj.kind) if obj else _kind_in(request)
        kwargs["form"] = type("FormOfKind", (RuleForm,), {"kind": kind})
        return super().get_form(request, obj, change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: AlertRule | None = None) -> Any:
        kind = RULE_KINDS.get(obj.kind) if obj else _kind_in(request)
        told = ["threshold", "window", *(["minimum"] if kind and kind.minimum_label else [])]
        return [
            (None, {"fields": ["name", *told]}),
            (_("Which copilots"), {"fields": [*WHICH]}),
            (_("Who is told"), {"fields": [*WHO]}),
            (_("Now"), {"fields": ["muted_until", "enabled"]}),
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
        kind = RULE_KINDS.get(rule.kind) if rule else _kind_in(request)
        context |= {"kind": kind, "may_read": request.user.has_perm(READ_TRANSCRIPTS)}
        if rule is not None:
            context["latest"] = rule.alerts.order_by("-opened_at", "-pk")[:LATEST]
        return super().render_change_form(request, context, *args, **kwargs)

    @method_decorator(require_POST)
    def trial_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Sends a test to those whom a rule tells."""
        rule = get_object_or_404(AlertRule.objects.select_related("webhook"), pk=pk)
        if not self.has_change_permission(request, rule):
            raise PermissionDenied
        with transaction.atomic():
            made = create_deliveries(rule, build_test_message(rule.name, timezone.now()))
            self.audit(request, Action.TESTED, rule, after={"deliveries": len(made)})
        text = _("%(number)d tests are on their way. Deliveries say what becomes of them.")
        self.message_user(request, text % {"number": len(made)}, level=messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:copilot_admin_alertrule_change", args=[pk]))


def _kind_in(request: HttpRequest) -> RuleKind | None:
    return RULE_KINDS.get(request.GET.get("kind", ""))


def _standing(rule: AlertRule) -> tuple[str, str]:
    if not rule.enabled:
        return _("Off"), "muted"
    if getattr(rule, "open_since", None) is not None:
        return _("Alert open"), "bad"
    if rule.muted_until is not None and rule.muted_until > timezone.now():
        return _("Muted"), "warn"
    return _("Good"), "good"
