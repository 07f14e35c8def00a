"""The time zone in whose midnights days and months of budgets begin."""

from zoneinfo import ZoneInfo

from django.conf import settings


def budget_zone() -> ZoneInfo:
    """The zone that `BUDGET_ZONE` names; a wrong name ended the process when settings were read."""
    return ZoneInfo(settings.BUDGET_ZONE)
