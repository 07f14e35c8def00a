"""Webhooks: URL, secret (shown once) and a test."""

from typing import Any, ClassVar
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.base import BaseAdmin, row_action
from copilot_admin.admin.common.widgets import time_column
from copilot_admin.admin.site.site import site
from copilot_admin.agent.fetching.egress import Egress
from copilot_admin.alerts.deliveries import create_deliveries, issue_secret
from copilot_admin.alerts.messages import build_test_message
from copilot_admin.config.variables import check_http_url
from copilot_admin.models import Action, AlertDelivery, AlertDigest, AlertRule, AlertWebhook

FOLDER = "admin/copilot_admin/alertwebhook"
MAX_DELIVERIES = 10


class WebhookForm(ModelForm[AlertWebhook]):
    class Meta:
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
        url = str(self.cleaned_data["url"])
        try:
            check_http_url(url)
        except ValueError as error:
            text = _("Enter a URL such as https://hooks.example.com/alerts.")
            raise forms.ValidationError(text, code="url") from error
        if urlsplit(url).username is not None:
            text = _("Leave out user name and password: requests are authenticated by a signature.")
            raise forms.ValidationError(text, code="url")
        if Egress(settings.FETCH_ALLOW).refuses(url):
            text = _("This URL is in a private network. Allow it in COPILOT_FETCH_ALLOW first.")
            raise forms.ValidationError(text, code="private")
        return url


@admin.register(AlertWebhook, site=site)
class WebhookAdmin(BaseAdmin[AlertWebhook]):
    form = WebhookForm
    fields = ("name", "url")
    row_views = ("test", "secret")
    change_form_template = f"{FOLDER}/change_form.html"
    list_display = ("name", "url", "made")
    columns = {"url": "grow"}
    search_fields = ("name", "url")
    search_help_text = gettext_lazy("Name or URL")
    actions = None
    empty_state = gettext_lazy(
        "A webhook receives alerts as signed JSON, for example to forward them to a chat."
    )

    made = time_column("made_at", gettext_lazy("Created"), style="short")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not change:
            request.issued_secret = issue_secret(obj)  # type: ignore[attr-defined]  # read in `response_add`

    def response_add(self, request: HttpRequest, obj: Any, *_: Any, **__: Any) -> HttpResponse:
        return self._secret_page(request, obj, request.issued_secret)  # type: ignore[attr-defined]  # set in `save_model`

    def row_context(self, request: HttpRequest, row: AlertWebhook) -> dict[str, Any]:
        sent = AlertDelivery.objects.filter(webhook=row).order_by("-made_at")
        return {"deliveries": sent[:MAX_DELIVERIES]}

    @row_action
    def test_view(self, request: HttpRequest, webhook: AlertWebhook) -> None:
        create_deliveries(webhook, build_test_message(webhook.name, timezone.now()))
        self.audit(request, Action.TESTED, webhook)
        text = _("The test is being sent. Reload the page to see the result.")
        messages.success(request, text)

    @row_action
    def secret_view(self, request: HttpRequest, webhook: AlertWebhook) -> HttpResponse:
        secret = issue_secret(webhook)
        self.log_change(request, webhook, "New secret.")  # and an audit entry
        return self._secret_page(request, webhook, secret)

    def has_delete_permission(self, request: HttpRequest, obj: AlertWebhook | None = None) -> bool:
        may: bool = super().has_delete_permission(request, obj)
        owners = (AlertRule, AlertDigest)
        is_used = obj and any(one.objects.filter(webhook=obj).exists() for one in owners)
        return may and not is_used

    def _secret_page(
        self, request: HttpRequest, webhook: AlertWebhook, secret: str
    ) -> HttpResponse:
        context = self.page_context(request, _("Webhook secret"))
        context |= {"webhook": webhook, "text": secret}
        response = render(request, f"{FOLDER}/secret.html", context)
        response["Cache-Control"] = "no-store"
        return response
