"""End users: a row each, what was asked refers to it, and nobody's chat joins another's."""

from datetime import timedelta

from django.db import connection
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin.copilots.end_users import AskingUser, UserSource, hashed
from copilot_admin.models import EndUser, Logging, Run
from copilot_admin.transcripts.end_users import save_end_user
from tests.transcripts.store.journaling import START, Client

pytestmark = [pytest.mark.database, pytest.mark.django_db]

ADA = AskingUser(id="ada", email="a@b.example", name="Ada")
EVE = AskingUser(id="eve")


def test_a_user_is_written_when_something_changes_or_once_an_hour():
    names = ("identifier", "email", "name", "source", "first_at", "last_at")
    rows = EndUser.objects.values_list(*names)
    hour = START.replace(minute=0, second=0, microsecond=0)
    first = save_end_user(ADA, at=START)
    assert rows.get() == ("ada", "a@b.example", "Ada", "token", START, hour)
    assert EndUser.objects.get().digest == hashed("ada")
    with CaptureQueriesContext(connection) as queries:
        assert save_end_user(ADA, at=START + timedelta(seconds=1)) == first
    assert len(queries) == 1
    renamed = AskingUser(id="ada", name="Ada L.", source=UserSource.PROXY)
    assert save_end_user(renamed, at=START + timedelta(hours=2)) == first
    later = hour + timedelta(hours=2)
    assert rows.get() == ("ada", "a@b.example", "Ada L.", "proxy", START, later)


def test_where_nothing_is_kept_no_user_is():
    Client(user=ADA, logging=Logging.NOTHING).ask("Hello").answer("Hi.")
    assert not EndUser.objects.exists()
    assert Run.objects.get().user is None
    Client(user=EVE, logging=Logging.METADATA).ask("Hello").answer("Hi.")
    assert EndUser.objects.get().identifier == "eve"
