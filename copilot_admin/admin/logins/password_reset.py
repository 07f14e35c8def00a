"""A forgotten password, made anew by mail; the pages say the same whether there is an account or not."""

from collections.abc import Iterable
import logging
from smtplib import SMTPException
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import views
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django_tasks import task

from copilot_admin.admin.logins.sign_in_limits import client_address, within
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.http.origins import get_base_url
from copilot_admin.models import Action

MOST_OF_AN_ADDRESS = 10  # asked for in an hour from one network
MOST_OF_A_MAILBOX = 3
HOUR_SECONDS = 3600
logger = logging.getLogger(__name__)


class ResetForm(PasswordResetForm):
    """Mails those who log in with a password: nobody of the firm's log-in."""

    def get_users(self, email: str) -> Iterable[User]:
        """Whom the mail goes to; only superusers where passwords are for emergencies."""
        only_superusers = settings.SSO.is_emergency_only
        return (
            user
            for user in super().get_users(email)
            if user.is_staff and (user.is_superuser or not only_superusers)
        )

    def send_mail(
        self,
        subject_template_name: str,
        email_template_name: str,
        context: dict[str, Any],
        from_email: str | None,
        to_email: str,
        html_email_template_name: str | None = None,
    ) -> None:
        """Send the mail; a failure is logged, so that the page reveals nothing."""
        subject = " ".join(render_to_string(subject_template_name, context).split())
        body = render_to_string(email_template_name, context)
        headers = {"Auto-Submitted": "auto-generated"}
        message = EmailMessage(subject, body, from_email, [to_email], headers=headers)
        try:
            message.send()
        except (SMTPException, OSError, ValueError) as error:
            account = context["user"].pk  # the text of the error may hold the address
            logger.error("reset mail of account %s failed: %s", account, type(error).__name__)  # noqa: TRY400  # no traceback with addresses


@task
def send_reset(email: str, base: str) -> None:
    """Sends the mail: in the background, so that no page takes longer where there is an account."""
    form = ResetForm({"email": email})
    if form.is_valid():
        parts = urlsplit(base)
        form.save(
            domain_override=parts.netloc,
            use_https=parts.scheme == "https",
            extra_email_context={"site_name": _("Copilot Admin")},
        )


class _WithMail:
    """A page that there is only where mail is sent."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not settings.EMAIL_HOST:
            raise Http404
        return super().dispatch(request, *args, **kwargs)  # type: ignore[misc,no-any-return]  # of the view beside it


class AskForReset(_WithMail, views.PasswordResetView):
    """Asks for the address to which the link for a new password goes."""

    form_class = ResetForm

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        email = form.cleaned_data["email"]
        if not within(
            f"reset from:{client_address(self.request)}", MOST_OF_AN_ADDRESS, seconds=HOUR_SECONDS
        ):
            page = render(self.request, "too_many_mails.html", status=429)
            page["Retry-After"] = str(HOUR_SECONDS)
            return page
        if within(f"reset to:{email.lower()}", MOST_OF_A_MAILBOX, seconds=HOUR_SECONDS):
            send_reset.enqueue(email, get_base_url(self.request))
        return HttpResponseRedirect(self.get_success_url())


class ResetAsked(_WithMail, views.PasswordResetDoneView):
    """Says that a mail is on its way if there is an account."""


class ResetConfirmed(_WithMail, views.PasswordResetConfirmView):
    """Takes the new password, for whoever has the address from the mail."""

    def form_valid(self, form: Any) -> HttpResponse:
        with transaction.atomic():
            response = super().form_valid(form)
            by, on = Actor.of(self.request, form.user), Subject.of(form.user)
            record(Action.PASSWORD_CHANGED, by=by, on=on, after={"by": "mail"})
        return response


class ResetDone(_WithMail, views.PasswordResetCompleteView):
    """Says that the new password counts."""
