"""Values of a query that are found by name."""

import pytest

from protocol.models import find_time_zone


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("America/Argentina/ComodRivadavia", "America/Argentina/ComodRivadavia"),
        *((name, None) for name in ("", "Mars/Olympus", "Europe", "../UTC", "/etc/localtime")),
        *((name, None) for name in ("x\0y", "a/" * 9_000_000)),
    ],
    ids=range(9),
)
def test_time_zone_is_found_by_its_name(name: str, key: str | None) -> None:
    zone = find_time_zone(name)
    assert (zone and zone.key) == key
