"""Webhooks: URL, secret (shown once) and a test."""

from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from copilot_admin.admin.common.base import BaseAdmin, stored
from copilot_admin.admin.common.html import format_time
from copilot_admin.admin.site.site import site
from copilot_admin.agent.fetching.egress import Egress
from copilot_admin.alerts.deliveries import create_deliveries, parse_webhook_url
from copilot_admin.alerts.messages import build_test_message
from copilot_admin.alerts.webhooks import issue_secret
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Action, AlertDelivery, AlertDigest, AlertRule, AlertWebhook

FOLDER = "admin/copilot_admin/alertwebhook"
MAX_DELIVERIES = 10

post_only = method_decorator(require_POST)


class WebhookForm(ModelForm[AlertWebhook]):
    class Meta:
        model = AlertWebhook
        fields: ClassVar[list[str]] = ["name", "url"]
        widgets: ClassVar[dict[str, Any]] = {
            "url": forms.URLInput(attrs={"placeholder": "https://", "dir": "ltr"})
        }
        help_texts: ClassVar[dict[str, str | Promise]] = {
            "url": gettext_lazy(
                "Receives a POST request with signed JSON. URLs in private networks must be allowed "
                "in COPILOT_FETCH_ALLOW. Redirects aren't followed."
            )
        }

    def clean_url(self) -> str:
        try:
            url = parse_webhook_url(self.cleaned_data["url"])
        except ConfigurationError as error:
            raise forms.ValidationError(error.public, code="url") from error
        if Egress(settings.FETCH_ALLOW).refuses(url):
            raise forms.ValidationError(
                _("This URL is in a private network. Allow it in COPILOT_FETCH_ALLOW first."),
                code="private",
            )
        return url


@admin.register(AlertWebhook, site=site)
class WebhookAdmin(BaseAdmin[AlertWebhook]):
    """Webhooks."""

    form = WebhookForm
    change_form_template = f"{FOLDER}/change_form.html"
    list_display = ("name", "url", "made")
    columns = {"url": "grow"}
    search_fields = ("name", "url")
    search_help_text = gettext_lazy("Name or URL")
    actions = None
    empty_state = gettext_lazy(
        "A webhook receives alerts as signed JSON, for example to forward them to a chat."
    )

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        name = "copilot_admin_alertwebhook_{}".format
        own = [
            path("<id:pk>/test/", wrap(self.test_view), name=name("test")),
            path("<id:pk>/secret/", wrap(self.secret_view), name=name("secret")),
        ]
        return own + super().get_urls()

    @admin.display(description=gettext_lazy("Created"), ordering="made_at")
    def made(self, webhook: AlertWebhook) -> SafeString | str:
        return format_time(webhook.made_at, "short")

    def save_model(
        self, request: HttpRequest, obj: AlertWebhook, form: WebhookForm, change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        if not change:
            request.issued_secret = issue_secret(obj)  # type: ignore[attr-defined]  # read in `response_add`

    def response_add(
        self, request: HttpRequest, obj: AlertWebhook, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self._secret_page(request, obj, request.issued_secret)  # type: ignore[attr-defined]  # set in `save_model`

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        original: AlertWebhook | None = context["original"]
        if original is not None:
            sent = AlertDelivery.objects.filter(webhook=original).order_by("-made_at")
            context["deliveries"] = sent[:MAX_DELIVERIES]
        return super().render_change_form(request, context, *args, **kwargs)

    @post_only
    def test_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Send a test message."""
        webhook = self._changeable(request, pk)
        with transaction.atomic():
            create_deliveries(webhook, build_test_message(webhook.name, timezone.now()))
            self.audit(request, Action.TESTED, webhook)
        text = _("The test is being sent. Reload the page to see the result.")
        self.message_user(request, text, level=messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:copilot_admin_alertwebhook_change", args=[pk]))

    @post_only
    def secret_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Replace the secret that signs the messages."""
        webhook = self._changeable(request, pk)
        with transaction.atomic():
            before = stored(webhook)
            secret = issue_secret(webhook)
            self.log_change(request, webhook, "New secret.")
            self.audit(request, Action.CHANGED, webhook, before=before, after=stored(webhook))
        return self._secret_page(request, webhook, secret)

    def has_delete_permission(self, request: HttpRequest, obj: AlertWebhook | None = None) -> bool:
        may: bool = super().has_delete_permission(request, obj)
        if not may or obj is None:
            return may
        told = Q(webhook=obj)
        is_used = (
            AlertRule.objects.filter(told).exists() or AlertDigest.objects.filter(told).exists()
        )
        return not is_used

    def _changeable(self, request: HttpRequest, pk: int) -> AlertWebhook:
        webhook = get_object_or_404(AlertWebhook, pk=pk)
        if not self.has_change_permission(request, webhook):
            raise PermissionDenied
        return webhook

    def _secret_page(
        self, request: HttpRequest, webhook: AlertWebhook, secret: str
    ) -> HttpResponse:
        context = {
            **self.page_context(request, _("Webhook secret")),
            "webhook": webhook,
            "text": secret,
        }
        response = render(request, f"{FOLDER}/secret.html", context)
        response["Cache-Control"] = "no-store"
        return response
