"""Settings of limits."""

import pytest

from copilot_admin.config.env import BadSetting
from copilot_admin.config.limits import time_zone


def test_a_time_zone_is_known_by_its_name():
    assert time_zone("ZONE", "Europe/Berlin") == "Europe/Berlin"


@pytest.mark.parametrize("text", ["Berlin", "../etc/passwd", "Europe/", "\x00"])
def test_what_is_no_time_zone_ends_the_start_with_one_line(text):
    with pytest.raises(BadSetting) as caught:
        time_zone("ZONE", text)
    assert caught.value.sentence == (
        f"ZONE is {text!r}, which is no time zone. Use a name such as Europe/Berlin."
    )
