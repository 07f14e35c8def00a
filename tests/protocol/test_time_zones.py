"""Time zones are known by their names, and what is no name of one is looked for nowhere."""

import pytest

from protocol.time_zones import LONGEST_NAME, time_zone


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "America/Argentina/ComodRivadavia"])
def test_zone_has_its_name(name: str) -> None:
    zone = time_zone(name)
    assert zone is not None
    assert zone.key == name


@pytest.mark.parametrize(
    "name",
    [
        *("", "Mars/Olympus", "Europe", "../UTC", "/etc/localtime", "x\0y"),
        "a" * LONGEST_NAME,
        "a/" * (LONGEST_NAME // 2 - 1) + "a",
        "a/" * 300 + "a",
        "a/" * 9_000_000 + "a",
    ],
    ids=range(10),
)
def test_what_is_no_name_of_a_zone_is_none(name: str) -> None:
    assert time_zone(name) is None
