"""Values that the log has somewhere, for filters to offer."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.stored_row import StoredRow


class SeenKind(models.TextChoices):
    """A column of the log whose values are noted, so that filters can offer them."""

    MODEL = "model", _("Model")
    ERROR = "error", _("Kind of error")
    REASON = "reason", _("Reason of a thumb")


class SeenValue(StoredRow):
    """A value that the log has somewhere: choices of filters come from here, not from the log."""

    kind = models.CharField(max_length=10, choices=SeenKind.choices)
    value = models.CharField(max_length=200)

    class Meta:
        ordering = ["kind", "value"]
        constraints = [models.UniqueConstraint(fields=["kind", "value"], name="seen_value_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.value}"
