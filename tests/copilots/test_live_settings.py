"""Consequences of settings that take effect without publishing."""

from datetime import timedelta
from typing import Any

from django.utils import timezone
import pytest

from copilot_admin.copilots.live_settings import consequences, keys_of
from copilot_admin.models import Access, EndpointKey, Logging
from tests.factories import make_copilot, make_key

USUAL = {"enabled": True, "access": Access.OPEN, "logging": Logging.EVERYTHING}


@pytest.mark.parametrize(
    ("before", "after", "effects"),
    [
        ({}, {}, 0),
        ({}, {"enabled": False}, 1),
        ({"enabled": False}, {"enabled": True}, 1),
        ({"access": Access.KEY}, {"access": Access.OPEN}, 1),
        ({"logging": Logging.NOTHING}, {"logging": Logging.EVERYTHING}, 1),
        ({}, {"access": Access.KEY, "logging": Logging.METADATA}, 2),
    ],
)
def test_each_change_has_a_consequence(
    before: dict[str, Any], after: dict[str, Any], effects: int
) -> None:
    stored = {**USUAL, **before}
    assert len(list(consequences(stored, {**stored, **after}, keys=0))) == effects


@pytest.mark.django_db
def test_the_keys_that_open_a_copilot_are_counted_once() -> None:
    copilot, other = make_copilot(), make_copilot()
    make_key("All")
    make_key("Both", copilots=(copilot, other))
    make_key("Other", copilots=(other,))
    make_key("Expired", expires_at=timezone.now() - timedelta(days=1))
    EndpointKey.objects.filter(pk=make_key("Revoked")[0].pk).update(revoked_at=timezone.now())
    assert keys_of(copilot) == 2
    assert keys_of(other) == 3
