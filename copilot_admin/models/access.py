"""Endpoint keys and origins: who may ask which copilot, and the pages of which servers may."""

from collections.abc import Iterable
from datetime import datetime
import hashlib
import secrets
from typing import TYPE_CHECKING, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.stored_row import StoredRow

if TYPE_CHECKING:
    from copilot_admin.models.copilots import Copilot

KEY_START = "cak_"  # lets a secret scanner and a human recognise a key
SHOWN_CHARACTERS = 12


def digest_of(key: str) -> str:
    """The stored form of a key. 256 random bits need no slow hash."""
    return hashlib.sha256(key.encode()).hexdigest()


LONGEST_ORIGIN = 200  # characters; a host name has 253 at most, and real ones some dozens


class AllowedOrigin(StoredRow):
    """A web origin whose pages may call the API, besides those of the deployment."""

    origin = models.CharField(_("origin"), max_length=LONGEST_ORIGIN, unique=True)
    allowed_at = models.DateTimeField(_("allowed"), auto_now_add=True)
    allowed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        verbose_name = _("allowed origin")
        verbose_name_plural = _("allowed origins")
        ordering = ["origin"]

    def __str__(self) -> str:
        return self.origin


class EndpointKeyQuerySet(models.QuerySet["EndpointKey"]):
    """Look-ups of endpoint keys."""

    def valid(self, *, at: datetime) -> Self:
        """Keys that are neither revoked nor expired at a moment."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=at), revoked_at=None)


class EndpointKey(StoredRow):
    """A key that a client sends with its questions; only its hash is kept."""

    name = models.CharField(_("name"), max_length=100, help_text=_("Who uses this key."))
    shown = models.CharField(_("key"), max_length=SHOWN_CHARACTERS, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    copilots: "models.ManyToManyField[Copilot, models.Model]" = models.ManyToManyField(
        "Copilot",
        verbose_name=_("copilots"),
        blank=True,
        related_name="keys",
        help_text=_("What the key may ask. None chosen: every copilot."),
    )
    # Not told by the copilots alone: a key whose last copilot was deleted may ask none, not every.
    is_scoped = models.BooleanField(default=False, editable=False)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects: ClassVar[models.Manager["EndpointKey"]] = EndpointKeyQuerySet.as_manager()

    class Meta:
        verbose_name = _("endpoint key")
        verbose_name_plural = _("endpoint keys")
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.shown}…)"

    def limit_to(self, copilots: Iterable["Copilot"]) -> None:
        """Lets the key ask these copilots alone; none: every copilot, unless it had a scope."""
        copilots = list(copilots)
        self.copilots.set(copilots)
        if copilots and not self.is_scoped:
            self.is_scoped = True
            self.save(update_fields=["is_scoped"])

    @classmethod
    def issue(cls, name: str, *, expires_at: datetime | None = None) -> tuple["EndpointKey", str]:
        """Makes a key; the returned text is the only copy of it there will ever be."""
        text = KEY_START + secrets.token_urlsafe(32)
        key = cls.objects.create(
            name=name, shown=text[:SHOWN_CHARACTERS], digest=digest_of(text), expires_at=expires_at
        )
        return key, text
