"""Links by which a user sets a password: after forgetting it, or invited to a new account."""

from datetime import timedelta
import logging
from smtplib import SMTPException

from allauth.account.forms import EmailAwarePasswordResetTokenGenerator
from allauth.account.internal.userkit import filter_users_by_email
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django_tasks import task

from copilot_admin.accounts.external_accounts import is_external

INVITATION_LIFETIME = timedelta(days=3)
logger = logging.getLogger(__name__)


class _Tokens(EmailAwarePasswordResetTokenGenerator):  # type: ignore[misc]  # allauth has no types
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
    context = {"user": user, "link": link, "site_name": _("Copilot Admin")}
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
        is_allowed = user.is_superuser or not settings.SSO.is_emergency_only
        if user.is_staff and is_allowed and user.has_usable_password() and not is_external(user):
            link = build_password_link(user, base_url)
            send_password_link(user, link, template="password_reset")
