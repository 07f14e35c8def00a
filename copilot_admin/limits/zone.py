"""The time zone in whose midnights days and months of budgets begin."""

from zoneinfo import ZoneInfo

from django.conf import settings


def budget_zone() -> ZoneInfo:
    """That of the setting, which is checked when settings are read."""
    return ZoneInfo(settings.BUDGET_ZONE)
