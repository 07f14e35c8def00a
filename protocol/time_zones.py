"""Time zones, by the names that clients and settings give them."""

from zoneinfo import ZoneInfo

LONGEST_NAME = 64  # characters; the longest that there is has 32


def time_zone(name: str) -> ZoneInfo | None:
    """The zone of a name, if there is one.

    A name that no file has is looked for as a Python package, and before it the one around it, for
    each of its slashes: 300 of them are too deep, and for 18 MB of them Python takes 6 seconds.
    """
    if len(name) > LONGEST_NAME:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # unknown, or no name of a time zone at all
        return None
