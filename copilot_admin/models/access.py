"""API keys, allowed origins, end users, members of copilots, external accounts and sessions."""

from collections.abc import Iterable
from datetime import datetime
import hashlib
import secrets
from typing import ClassVar, Self

from django.contrib.auth.models import Group, User
from django.db import models
from django.db.models import CASCADE, SET_NULL, Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.copilots import Copilot
from copilot_admin.models.fields import Record, index, unique

KEY_PREFIX = "cak_"  # lets a secret scanner and a human recognise a key
SHOWN_KEY_LENGTH = 12
MAX_ORIGIN_LENGTH = 200  # characters; a host name has 253 at most, and real ones some dozens
MAX_END_USER_LENGTH = 254  # characters: the longest e-mail address
MAX_EXTERNAL_SUBJECT_LENGTH = 255  # https://openid.net/specs/openid-connect-core-1_0.html#IDToken


def hash_key(key: str) -> str:
    """Return the stored form of a key. 256 random bits need no slow hash."""
    return hashlib.sha256(key.encode()).hexdigest()


class AllowedOrigin(models.Model):
    """A web origin whose pages may call the API, in addition to those of the deployment."""

    origin = models.CharField(_("origin"), max_length=MAX_ORIGIN_LENGTH, unique=True)
    allowed_at = models.DateTimeField(_("allowed"), auto_now_add=True)
    allowed_by = models.ForeignKey(User, SET_NULL, null=True, related_name="+")

    class Meta:
        verbose_name = _("allowed origin")
        verbose_name_plural = _("allowed origins")
        ordering = ["origin"]

    def __str__(self) -> str:
        return self.origin


class EndpointKeyQuerySet(models.QuerySet["EndpointKey"]):
    def valid(self, *, at: datetime) -> Self:
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=at), revoked_at=None)


class EndpointKey(models.Model):
    """A key that a client sends with its questions; only its hash is stored."""

    name = models.CharField(
        _("name"), max_length=100, help_text=_("For example the app or team that uses the key.")
    )
    shown = models.CharField(_("key"), max_length=SHOWN_KEY_LENGTH, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    copilots: "models.ManyToManyField[Copilot, models.Model]" = models.ManyToManyField(
        "Copilot",
        verbose_name=_("copilots"),
        blank=True,
        related_name="keys",
        help_text=_("Leave blank to allow all copilots."),
    )
    # Not derived from `copilots`: a key whose last copilot was deleted may ask none, not all.
    is_scoped = models.BooleanField(default=False, editable=False)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects: ClassVar[models.Manager["EndpointKey"]] = EndpointKeyQuerySet.as_manager()

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.shown}…)"

    def limit_to(self, copilots: Iterable["Copilot"]) -> None:
        """Restrict the key to these copilots; an empty list allows all unless it had a scope."""
        copilots = list(copilots)
        self.copilots.set(copilots)
        if copilots and not self.is_scoped:
            self.is_scoped = True
            self.save(update_fields=["is_scoped"])

    @classmethod
    def issue(cls, name: str, *, expires_at: datetime | None = None) -> tuple["EndpointKey", str]:
        """Create a key and return it with its text."""
        key = cls(name=name, expires_at=expires_at)
        text = key.generate_text()
        key.save()
        return key, text

    def generate_text(self) -> str:
        """Give an unsaved key its text and return it; only the hash is stored."""
        text = KEY_PREFIX + secrets.token_urlsafe(32)
        self.shown, self.digest = text[:SHOWN_KEY_LENGTH], hash_key(text)
        return text


class EndUser(models.Model):
    """A user named by a token or a trusted proxy."""

    identifier = models.CharField(_("id"), max_length=MAX_END_USER_LENGTH, unique=True)
    email = models.CharField(_("email"), max_length=MAX_END_USER_LENGTH, blank=True)
    name = models.CharField(_("name"), max_length=MAX_END_USER_LENGTH, blank=True)
    source = models.CharField(max_length=5)  # a `copilots.end_users.UserSource`
    digest = models.CharField(max_length=32, blank=True)  # sent to providers instead of the id
    first_at = models.DateTimeField(_("first seen"))
    last_at = models.DateTimeField(_("last seen"))  # to the hour

    class Meta:
        verbose_name = _("user")
        verbose_name_plural = _("users")
        ordering = ["identifier"]
        indexes = [
            index("end_user_email", "email"),
            index("end_user_name", "name"),
            index("end_user_digest", "digest"),
        ]

    def __str__(self) -> str:
        return self.name or self.email or self.identifier


class Membership(Record):
    """A user who may see and edit a copilot; an owner also manages its members."""

    copilot = models.ForeignKey(Copilot, CASCADE, related_name="memberships", db_index=False)
    user = models.ForeignKey(User, CASCADE, related_name="memberships")
    is_owner = models.BooleanField(_("owner"), default=False)
    since = models.DateTimeField(_("since"), auto_now_add=True)

    class Meta:
        default_permissions = ()
        ordering = ["-is_owner", "since", "pk"]
        constraints = [unique("membership_once", "copilot user")]


class ExternalAccount(Record):
    """An account of an identity provider, identified by issuer and subject only."""

    user = models.OneToOneField(User, CASCADE, related_name="external")
    issuer = models.CharField(_("comes from"), max_length=500)
    subject = models.CharField(_("known there as"), max_length=MAX_EXTERNAL_SUBJECT_LENGTH)
    seen_at = models.DateTimeField(_("last vouched for"))

    class Meta:
        default_permissions = ()
        constraints = [unique("external_account_once", "issuer subject")]


class RoleSecurity(Record):
    """Whether users of a role need a second factor."""

    group = models.OneToOneField(Group, CASCADE, related_name="security")
    requires_second_factor = models.BooleanField(
        _("require two-factor authentication"),
        default=False,
        help_text=_("Users with this role set it up at their next page."),
    )

    class Meta:
        default_permissions = ()


class HiddenNotice(Record):
    """A notice, such as the first-run checklist, that a user has hidden."""

    user = models.ForeignKey(User, CASCADE, related_name="+", db_index=False)
    name = models.CharField(max_length=50)

    class Meta:
        default_permissions = ()
        constraints = [unique("hidden_notice_once", "user name")]
