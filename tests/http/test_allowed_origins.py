"""Origins that operators allowed act where the deployment has not named its own."""

from asgiref.sync import async_to_sync
import pytest

from copilot_admin.http.allowed_origins import AllowedOrigins
from copilot_admin.models import AllowedOrigin

GIVEN, MINE = "https://pro.openbb.co", "https://mine.example:8443"


def allowed(origins: AllowedOrigins) -> set[str]:
    """Those of the two that may ask."""
    return {one for one in (GIVEN, MINE) if one.encode() in origins}


@pytest.mark.django_db(transaction=True)  # read on another thread
def test_what_the_database_holds_acts_when_it_is_looked_at_again_and_no_longer():
    origins = AllowedOrigins([GIVEN], is_pinned=False)
    row = AllowedOrigin.objects.create(origin=MINE)
    assert (origins.added(), allowed(origins)) == ((MINE,), {GIVEN})
    async_to_sync(origins.look_after)()
    assert allowed(origins) == {GIVEN, MINE}
    row.delete()
    origins.read()
    assert allowed(origins) == {GIVEN}


def test_those_that_the_deployment_names_are_all_and_no_database_is_asked():
    origins = AllowedOrigins([GIVEN])
    origins.read()
    assert (origins.added(), allowed(origins)) == ((), {GIVEN})
