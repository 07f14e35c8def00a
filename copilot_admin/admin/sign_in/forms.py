"""Forms of sign-in and passwords, and links that set a password: forgotten, or of an invitation."""

from datetime import timedelta
import logging
from smtplib import SMTPException
from typing import Any

from allauth.account import forms
from allauth.account.adapter import get_adapter
from allauth.account.internal.userkit import filter_users_by_email
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_tasks import task

from copilot_admin.accounts.external_accounts import is_external
from copilot_admin.http.middleware import get_base_url

INVITATION_LIFETIME = timedelta(days=3)
logger = logging.getLogger(__name__)


class PlainFields:
    """Form without placeholders, which repeat the labels, and with a short help for passwords."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields = self.fields  # type: ignore[attr-defined]  # of the form
        for name, field in fields.items():
            field.widget.attrs.pop("placeholder", None)
            field.help_text = ""
            field.label = str(field.label).capitalize()
            if name == "login":
                field.widget.attrs["autofocus"] = True
            if name == "password1":
                field.help_text = _(
                    "At least 12 characters, not common, not a repetition and not like your name."
                )


class SignInForm(PlainFields, forms.LoginForm):  # type: ignore[misc]  # allauth has no types
    pass


class ConfirmForm(PlainFields, forms.ReauthenticateForm):  # type: ignore[misc]
    pass


class SetPasswordForm(PlainFields, forms.ResetPasswordKeyForm):  # type: ignore[misc]
    pass


class ChangePasswordForm(PlainFields, forms.ChangePasswordForm):  # type: ignore[misc]
    """Current and new password; wrong guesses count as failed sign-ins."""

    def clean_oldpassword(self) -> str:
        password: str = self.cleaned_data["oldpassword"]
        if not get_adapter().reauthenticate(self.user, password):
            raise get_adapter().validation_error("enter_current_password")
        return password


class ResetPasswordForm(forms.ResetPasswordForm):  # type: ignore[misc]
    def save(self, request: HttpRequest, **_options: Any) -> str:
        """Send the mail in the background, so that the page takes as long without an account."""
        email: str = self.cleaned_data["email"]
        send_reset.enqueue(email, get_base_url(request))
        return email


def may_use_password(user: User) -> bool:
    is_allowed = user.is_superuser or not settings.SSO.is_emergency_only
    return user.is_active and user.is_staff and is_allowed and not is_external(user)


class _Tokens(forms.EmailAwarePasswordResetTokenGenerator):  # type: ignore[misc]
    def make_token(self, user: User, lifetime: timedelta | None = None) -> str:
        """Return a token; a longer lifetime is a later time of issue."""
        seconds = self._num_seconds(self._now())
        if lifetime is not None:
            seconds += int(lifetime.total_seconds()) - settings.PASSWORD_RESET_TIMEOUT
        token: str = self._make_token_with_timestamp(user, seconds, self.secret)
        return token


def build_password_link(user: User, base_url: str, lifetime: timedelta | None = None) -> str:
    """Return a link that sets a password once."""
    key = _Tokens().make_token(user, lifetime)
    names = {"uidb36": user_pk_to_url_str(user), "key": key}
    return f"{base_url}{reverse('account_reset_password_from_key', kwargs=names)}"


def send_password_link(user: User, link: str, *, template: str) -> bool:
    """Mail a link and return whether the mail server took it; a failure is logged."""
    context = {"user": user, "link": link, "site_name": gettext("Copilot Admin")}
    subject = " ".join(render_to_string(f"account/email/{template}_subject.txt", context).split())
    body = render_to_string(f"account/email/{template}.txt", context)
    headers = {"Auto-Submitted": "auto-generated"}
    try:
        EmailMessage(subject, body, None, [user.email], headers=headers).send()
    except (SMTPException, OSError, ValueError) as error:
        # The text of the error may hold the address.
        logger.error("mail to account %s failed: %s", user.pk, type(error).__name__)  # noqa: TRY400
        return False
    return True


@task
def send_reset(email: str, base_url: str) -> None:
    """Mail a link to the accounts of an address that sign in with a password."""
    for user in filter_users_by_email(email, is_active=True, for_login=True):
        if may_use_password(user) and user.has_usable_password():
            link = build_password_link(user, base_url)
            send_password_link(user, link, template="password_reset")
