"""Limits that settings give: of callers whom nobody knows, and when the day of a budget begins."""

from collections.abc import Mapping

from copilot_admin.config.env import BadSetting
from protocol import time_zones


def anonymous_limits(
    *, concurrent: int | None, per_minute: int | None, production: bool
) -> Mapping[str, int]:
    """Return the limits of each anonymous address, under the names that copilot files have for them.

    Args:
        concurrent: Answers at once; 0: unlimited; None: 20 in production, else unlimited.
        per_minute: Requests a minute; 0: unlimited; None: 120 in production, else unlimited.
        production: Whether the automatic limits apply.
    """
    limits = {
        "concurrent": (20 if production else 0) if concurrent is None else concurrent,
        "requests_per_minute": (120 if production else 0) if per_minute is None else per_minute,
    }
    return {key: limit for key, limit in limits.items() if limit}


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
