"""What reviewers keep for themselves and for each other."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.stored_row import StoredRow

LONGEST_NAME = 60


class SavedView(StoredRow):
    """Filters and words of the transcript list under a name; shared ones are for all reviewers."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    name = models.CharField(_("name"), max_length=LONGEST_NAME)
    query = models.TextField()  # of the address, without the place in the list
    is_shared = models.BooleanField(_("shared"), default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("saved view")
        ordering = ["name", "id"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="saved_view_once")]

    def __str__(self) -> str:
        return self.name
