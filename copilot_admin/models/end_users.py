"""Who asks, as a token or a proxy names him."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.stored_row import StoredRow

LONGEST_USER = 254  # characters: the longest e-mail address


class EndUser(StoredRow):
    """Somebody who asks, as a token or a trusted proxy names him; what he asked refers to him.

    Whoever erases him takes first what is his: neither conversations nor requests lose their user.
    """

    identifier = models.CharField(_("id"), max_length=LONGEST_USER, unique=True)
    email = models.CharField(_("e-mail"), max_length=LONGEST_USER, blank=True)
    name = models.CharField(_("name"), max_length=LONGEST_USER, blank=True)
    source = models.CharField(max_length=5)  # a `copilots.users.UserSource`
    digest = models.CharField(max_length=32, blank=True)  # what providers are told instead of him
    first_at = models.DateTimeField(_("first asked"))
    last_at = models.DateTimeField(_("last seen"))  # to the hour

    class Meta:
        verbose_name = _("user")
        verbose_name_plural = _("users")
        ordering = ["identifier"]
        indexes = [
            models.Index(fields=["email"], name="end_user_email"),
            models.Index(fields=["name"], name="end_user_name"),
            models.Index(fields=["digest"], name="end_user_digest"),
        ]

    def __str__(self) -> str:
        return self.name or self.email or self.identifier
