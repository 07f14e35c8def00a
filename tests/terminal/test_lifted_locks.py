"""The commands that lift a lock of the log-in take the address that somebody has."""

from io import StringIO

from axes.models import AccessAttempt
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
import pytest

from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("address", ["2001:db8:1:2:3:4:5:6", "::ffff:192.0.2.7", "192.0.2.7"])
@pytest.mark.parametrize("command", ["axes_reset_ip", "axes_reset_ip_username"])
def test_the_lock_of_an_address_is_lifted_however_it_is_counted(command, address):
    person = make_user(username="ada")
    wrong = {"username": person.username, "password": "wrong"}
    Client(REMOTE_ADDR=address).post(reverse("admin:login"), wrong)
    assert AccessAttempt.objects.count() == 1
    said = StringIO()
    name = [person.username] if command == "axes_reset_ip_username" else []
    call_command(command, address, *name, stdout=said)
    assert (said.getvalue(), AccessAttempt.objects.count()) == ("1 attempts removed.\n", 0)


def test_what_is_no_address_is_a_line():
    with pytest.raises(CommandError, match="'ada' is no address"):
        call_command("axes_reset_ip", "ada")
