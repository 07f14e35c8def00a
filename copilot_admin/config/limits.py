"""Limits that settings give: of callers whom nobody knows, and when the day of a budget begins."""

from collections.abc import Mapping

from copilot_admin.config.env import BadSetting
from protocol import time_zones


def anonymous_limits(*, concurrent: int, per_minute: int) -> Mapping[str, int]:
    """The limits of each address without a key and a user, under the names that files have for them.

    Args:
        concurrent: Answers at once; 0: as many as there are.
        per_minute: Requests; 0: as many as come.
    """
    limits = {"concurrent": concurrent, "requests_per_minute": per_minute}
    return {key: most for key, most in limits.items() if most}


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
