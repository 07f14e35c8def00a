"""Sessions: their list, how long they last, and what ends them."""

import time

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin import settings as product
from copilot_admin.accounts.sessions import BEGAN, SEEN, delete_expired_sessions, describe_device
from copilot_admin.config.roles import Role
from copilot_admin.models import Action, AuditEntry
from tests.factories import make_user

pytestmark = pytest.mark.django_db
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def browser(user, **options) -> Client:
    client = Client(**options)
    values = {"login": user.username, "password": "secret"}
    assert client.post(reverse("account_login"), values, **options).status_code == 302
    return client


def is_in(client: Client) -> bool:
    return client.get("/admin/").status_code == 200


def change(client: Client, **values: float) -> None:
    session = client.session
    session.update(values)
    session.save()


def test_the_page_lists_sessions_and_ends_one_or_all_others(client):
    user = make_user()
    other = browser(user, HTTP_USER_AGENT=FIREFOX, REMOTE_ADDR="192.0.2.7")
    third, mine = browser(user), browser(user)
    page = mine.get(reverse("usersessions_list")).text
    assert ("Firefox, Linux" in page, "192.0.2.7" in page) == (True, True)
    row = UserSession.objects.get(session_key=other.session.session_key)
    mine.post(reverse("usersessions_list"), {"end": row.pk})
    assert (is_in(other), is_in(third), is_in(mine)) == (False, True, True)
    mine.post(reverse("usersessions_list"), {"end": "others"})
    assert (is_in(third), is_in(mine)) == (False, True)
    assert AuditEntry.objects.filter(action=Action.LOGGED_OUT).count() == 2


def test_operators_end_sessions_of_users_within_their_reach():
    operator, user = browser(make_user(Role.OPERATORS)), make_user()
    session, boss = browser(user), make_user(is_superuser=True)
    operator.post(reverse("admin:auth_user_sessions", args=[user.pk]), {"end": "others"})
    assert not is_in(session)
    url = reverse("admin:auth_user_sessions", args=[boss.pk])
    assert operator.get(url).status_code == 403


def test_a_disabled_account_stays_signed_out_after_it_is_enabled_again():
    user = make_user()
    client = browser(user)
    user.is_active = False
    user.save()
    user.is_active = True
    user.save()
    assert not is_in(client)


@pytest.mark.parametrize(("hours", "is_over"), [(167, False), (169, True)])
def test_a_session_has_a_longest_age(hours, is_over):
    client = browser(make_user())
    change(client, **{BEGAN: time.time() - hours * 3600})
    assert is_in(client) is not is_over


def test_pages_restart_the_idle_time():
    client = browser(make_user())
    change(client, **{SEEN: time.time() - 3600})
    Session.objects.update(expire_date="2026-01-01T00:00:00Z")
    assert not is_in(client)
    client = browser(make_user())
    before = Session.objects.get(pk=client.session.session_key).expire_date
    change(client, **{SEEN: time.time() - 3600})
    assert is_in(client)
    assert Session.objects.get(pk=client.session.session_key).expire_date > before
    assert product.SESSION_COOKIE_AGE == 8 * 3600


def test_expired_sessions_are_deleted():
    browser(make_user())
    Session.objects.update(expire_date="2026-01-01T00:00:00Z")
    assert delete_expired_sessions() == 1
    assert not UserSession.objects.exists()


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (FIREFOX, "Firefox, Linux"),
        ("Mozilla/5.0 (iPhone) Version/18 Mobile Safari/604", "Safari, iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140 Safari/537 Edg/140", "Edge, Windows"),
        ("something else", "something else"),
    ],
)
def test_devices_have_names(agent, expected):
    assert describe_device(agent) == expected


def test_a_session_without_access_to_the_admin_ends_instead_of_turning_in_circles():
    user = make_user()
    client = browser(user)
    type(user).objects.update(is_staff=False)
    assert client.get("/admin/", follow=True).redirect_chain[-1][0].startswith("/admin/login/")
