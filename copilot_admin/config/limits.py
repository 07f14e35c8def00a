"""Time zone in which the days of budgets begin."""

from copilot_admin.config.env import BadSetting
from protocol import time_zones


def time_zone(name: str, text: str) -> str:
    """The name of a time zone.

    Raises:
        BadSetting: There is none of this name.
    """
    if time_zones.time_zone(text) is None:
        raise BadSetting(
            f"{name} is {text!r}, which is no time zone. Use a name such as Europe/Berlin."
        )
    return text
