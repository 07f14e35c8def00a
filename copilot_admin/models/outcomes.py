"""How a run can end."""

from functools import reduce
import operator

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Outcome(models.TextChoices):
    """How a run ended. Accepted runs are always the sum of all these."""

    RUNNING = "running", _("Running")
    COMPLETED = "completed", _("Completed")
    TRUNCATED = "truncated", _("Truncated")
    FAILED = "failed", _("Failed")
    CRASHED = "crashed", _("Crashed")
    CANCELLED = "cancelled", _("Cancelled")
    INTERRUPTED = "interrupted", _("Interrupted")
    REFUSED = "refused", _("Refused")


# An OR of equal signs: SQLite uses a partial index only if its condition is a part of the query's.
NOT_COMPLETED = reduce(
    operator.or_,
    (Q(last_outcome=outcome) for outcome in Outcome if outcome is not Outcome.COMPLETED),
)
