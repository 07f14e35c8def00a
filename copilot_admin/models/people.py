"""People beside their accounts: who works on which copilot, who comes from where, who is logged in."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.copilots import Copilot
from copilot_admin.models.stored_row import StoredRow

LONGEST_SUBJECT = 255  # https://openid.net/specs/openid-connect-core-1_0.html#IDToken
LONGEST_DEVICE = 300


class Membership(StoredRow):
    """Somebody works on a copilot: he sees it and edits it; an owner says who else does."""

    copilot = models.ForeignKey(
        Copilot, on_delete=models.CASCADE, related_name="memberships", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    is_owner = models.BooleanField(_("owner"), default=False)
    since = models.DateTimeField(_("since"), auto_now_add=True)

    class Meta:
        default_permissions = ()
        ordering = ["-is_owner", "since", "pk"]
        constraints = [models.UniqueConstraint(fields=["copilot", "user"], name="membership_once")]

    def __str__(self) -> str:
        return f"{self.user} · {self.copilot}"


class ExternalAccount(StoredRow):
    """An account that the firm's log-in vouches for, known by issuer and subject and nothing else.

    Its roles are what the log-in said last; nobody edits them here.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="external"
    )
    issuer = models.CharField(_("comes from"), max_length=500)
    subject = models.CharField(_("known there as"), max_length=LONGEST_SUBJECT)
    seen_at = models.DateTimeField(_("last vouched for"))

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="external_account_once")
        ]

    def __str__(self) -> str:
        return f"{self.subject} · {self.issuer}"


class LogIn(StoredRow):
    """A browser in which somebody is logged in."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="log_ins"
    )
    session_key = models.CharField(max_length=40, unique=True)
    session_hash = models.CharField(max_length=128)  # of the password then: a new one ends it
    device = models.CharField(max_length=LONGEST_DEVICE, blank=True)
    address = models.CharField(max_length=64, blank=True)
    since = models.DateTimeField()
    last_seen = models.DateTimeField()

    class Meta:
        default_permissions = ()
        ordering = ["-last_seen", "-pk"]

    def __str__(self) -> str:
        return f"{self.user} · {self.since:%Y-%m-%d %H:%M}"
