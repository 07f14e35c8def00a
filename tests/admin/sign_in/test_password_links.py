"""Links by which users set a password: forgotten, or invited."""

from datetime import timedelta
import re

from django.contrib.auth.models import Group
from django.core import mail
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.admin.sign_in import forms
from copilot_admin.admin.sign_in.forms import build_password_link
from copilot_admin.config.roles import Role
from copilot_admin.config.sso import PasswordSignIn, SsoSettings
from copilot_admin.models import Action, AuditEntry
from tests.admin.sign_in.test_proxy import RULES
from tests.factories import make_user

pytestmark = pytest.mark.django_db
NEW = {"password1": "brave-otter-77-sings", "password2": "brave-otter-77-sings"}


@pytest.fixture(autouse=True)
def _mail(settings, monkeypatch) -> None:
    settings.EMAIL_HOST = "mail.example.com"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    task = forms.send_reset
    monkeypatch.setattr(type(task), "enqueue", lambda task, *args: task.func(*args))


def ask(email: str, client: Client | None = None) -> int:
    url = reverse("account_reset_password")
    return (client or Client()).post(url, {"email": email}).status_code


def link_of(text: str) -> str:
    return str(re.findall(r"http://testserver(/\S+?)[\s\"]", text)[0])


def follow(link: str) -> tuple[Client, str]:
    client = Client()
    answer = client.get(link)
    return client, answer.headers.get("Location", "")


def test_a_link_sets_a_password_once():
    user = make_user(email="ann@example.com")
    session = Client()
    session.force_login(user)
    assert ask("Ann@Example.com") == 302
    link = link_of(mail.outbox[0].body)
    client, form = follow(link)
    assert "key" not in form
    assert link.rsplit("/", 2)[1] not in form
    assert client.post(form, NEW).status_code == 302
    user.refresh_from_db()
    assert user.check_password(NEW["password1"])
    assert session.get("/admin/").status_code == 302
    assert client.get("/admin/").status_code == 302  # nobody is signed in by a link
    assert follow(link)[1] == ""
    assert AuditEntry.objects.filter(action=Action.PASSWORD_CHANGED).count() == 1


def test_the_answer_does_not_tell_whether_an_account_exists():
    make_user(email="ann@example.com")
    pages = []
    for email in ("ann@example.com", "nobody@example.com"):
        client = Client()
        answer = client.post(reverse("account_reset_password"), {"email": email}, follow=True)
        pages.append(re.sub(r'nonce="[^"]*"|token" value="[^"]*"|CSRFToken[^}]*', "", answer.text))
    assert pages[0] == pages[1]
    assert len(mail.outbox) == 1


@pytest.mark.parametrize(
    ("changes", "emergency", "mails"),
    [
        ({}, False, 1),
        ({"is_active": False}, False, 0),
        ({"is_staff": False}, False, 0),
        ({}, True, 0),
        ({"is_superuser": True}, True, 1),
    ],
)
def test_only_accounts_with_a_password_get_mail(settings, changes, emergency, mails):
    if emergency:
        settings.SSO = SsoSettings(proxy=RULES, passwords=PasswordSignIn.EMERGENCY)
    make_user(email="ann@example.com", **changes)
    ask("ann@example.com")
    assert len(mail.outbox) == mails


def test_requests_are_limited_for_a_mailbox_and_an_address():
    assert [ask("ann@example.com") for _ in range(4)] == [302, 302, 302, 429]
    statuses = [ask(f"{number}@example.com") for number in range(8)]
    assert statuses[-1] == 429


def test_without_a_mail_server_there_is_no_such_page(settings):
    settings.EMAIL_HOST = ""
    assert Client().get(reverse("account_reset_password")).status_code == 404


class TestInvitations:
    @pytest.fixture
    def boss(self) -> Client:
        client = Client()
        client.force_login(make_user(is_superuser=True))
        return client

    def add(self, boss: Client, **changes: str):
        role = Group.objects.get(name=Role.BUILDERS)
        values = {"username": "maria", "roles": [role.pk], "is_active": "on", **changes}
        return boss.post(reverse("admin:auth_user_add"), values, follow=True)

    def test_a_new_user_with_a_role_can_sign_in(self, boss, settings):
        settings.EMAIL_HOST = ""
        page = self.add(boss)
        client, form = follow(link_of(page.text))
        assert client.post(form, NEW).status_code == 302
        values = {"login": "maria", "password": NEW["password1"]}
        assert client.post(reverse("account_login"), values)["Location"] == "/admin/"
        assert client.get("/admin/copilot_admin/copilot/").status_code == 200

    def test_it_goes_by_mail_where_there_is_mail(self, boss):
        page = self.add(boss, email="maria@example.com")
        assert [one.to for one in mail.outbox] == [["maria@example.com"]]
        assert "maria" in mail.outbox[0].body
        assert link_of(mail.outbox[0].body) not in page.text

    @pytest.mark.parametrize(("hours", "is_valid"), [(71, True), (73, False)])
    def test_it_lasts_three_days(self, monkeypatch, hours, is_valid):
        user = make_user()
        link = build_password_link(user, "http://testserver", timedelta(days=3))
        later = forms._Tokens()._now() + timedelta(hours=hours)
        monkeypatch.setattr(
            "django.contrib.auth.tokens.PasswordResetTokenGenerator._now", lambda _: later
        )
        path = link.removeprefix("http://testserver")
        assert bool(follow(path)[1]) is is_valid
