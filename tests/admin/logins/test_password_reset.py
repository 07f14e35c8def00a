"""A forgotten password: a mail to whoever has an account, and the same page for everybody."""

import re
from typing import Any
from unittest.mock import Mock

from django.core import mail
from django.core.cache import cache
from django.core.mail import EmailMessage
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.accounts.sessions import active_sessions
from copilot_admin.admin.logins import password_reset
from copilot_admin.config.sso import OidcProvider, PasswordSignIn, SsoSettings
from tests.factories import make_user

pytestmark = pytest.mark.django_db
ASK = "admin_password_reset"


@pytest.fixture(autouse=True)
def _with_mail(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EMAIL_HOST = "mail.example.com"
    settings.DEFAULT_FROM_EMAIL = "copilots@example.com"
    cache.clear()
    monkeypatch.setattr(
        password_reset.send_reset.__class__, "enqueue", lambda self, *args: self.call(*args)
    )


def ask(email: str, **options: Any) -> Any:
    return Client().post(reverse(ASK), {"email": email}, follow=True, **options)


def address() -> str:
    (sent,) = mail.outbox
    (found,) = re.findall(r"https?://[^/]+(/\S+)", sent.body)
    return str(found)


def test_a_mail_leads_to_a_new_password_which_ends_all_log_ins():
    person = make_user(email="ann@example.com")
    elsewhere = Client()
    elsewhere.force_login(person)
    ask("Ann@Example.com")
    assert mail.outbox[0].from_email == "copilots@example.com"
    client = Client()
    page = client.get(address(), follow=True)
    url = page.redirect_chain[-1][0]
    typed = {"new_password1": "a-new-passphrase", "new_password2": "a-new-passphrase"}
    assert client.post(url, typed).status_code == 302
    person.refresh_from_db()
    assert person.check_password("a-new-passphrase")
    assert elsewhere.get("/admin/").status_code == 302
    assert list(active_sessions(person)) == []
    assert "no longer valid" in client.get(address(), follow=True).content.decode() or (
        "invalid" in Client().get(address(), follow=True).content.decode()
    )


def test_the_page_says_the_same_whether_there_is_an_account_or_not():
    make_user(email="ann@example.com")
    there, not_there = ask("ann@example.com"), ask("nobody@example.com")
    assert (there.status_code, there.content) == (200, not_there.content)
    assert len(mail.outbox) == 1


def test_a_mail_server_that_takes_none_is_a_line_of_the_log(monkeypatch, caplog):
    person = make_user(email="ann@example.com")
    refuses = Mock(side_effect=ConnectionRefusedError(111, "Connection refused"))
    monkeypatch.setattr(EmailMessage, "send", refuses)
    assert ask("ann@example.com").content == ask("nobody@example.com").content
    assert [
        (one.getMessage(), one.exc_info) for one in caplog.records if one.levelname == "ERROR"
    ] == [
        (
            f"reset mail of account {person.pk} failed: ConnectionRefusedError",
            None,
        )
    ]


@pytest.mark.parametrize("changes", [{"is_active": False}, {"is_staff": False}, {"password": None}])
def test_who_cannot_log_in_with_a_password_is_sent_none(changes):
    make_user(email="ann@example.com", **changes)
    ask("ann@example.com")
    assert mail.outbox == []


def test_where_passwords_are_for_emergencies_only_superusers_are_sent_one(settings):
    oidc = OidcProvider(issuer="https://login.example.com")
    settings.SSO = SsoSettings(oidc=oidc, passwords=PasswordSignIn.EMERGENCY)
    make_user(email="ann@example.com")
    make_user(email="boss@example.com", is_superuser=True)
    for email in ("ann@example.com", "boss@example.com"):
        ask(email)
    assert [sent.to for sent in mail.outbox] == [["boss@example.com"]]


def test_a_mailbox_gets_three_an_hour_and_nobody_is_told():
    make_user(email="ann@example.com")
    pages = {ask("ann@example.com", REMOTE_ADDR=f"192.0.2.{n}").content for n in range(6)}
    assert (len(mail.outbox), len(pages)) == (3, 1)


def test_a_network_asks_ten_times_an_hour():
    pages = [ask(f"a{number}@example.com", REMOTE_ADDR="192.0.2.1") for number in range(12)]
    assert [page.status_code for page in pages] == [200] * 10 + [429] * 2
    assert [page.get("Retry-After") for page in pages] == [None] * 10 + ["3600"] * 2


def test_the_address_is_of_the_public_one_whatever_host_asked(settings):
    settings.PUBLIC_URL = "https://copilots.example.com"
    make_user(email="ann@example.com")
    ask("ann@example.com")
    assert "https://copilots.example.com/admin/password-reset/" in mail.outbox[0].body


def test_it_is_good_for_an_hour(settings):
    assert settings.PASSWORD_RESET_TIMEOUT == 3600
    make_user(email="ann@example.com")
    ask("ann@example.com")
    settings.PASSWORD_RESET_TIMEOUT = -1
    page = Client().get(address(), follow=True).content.decode()
    assert 'name="new_password1"' not in page


def test_without_a_mail_server_there_are_no_such_pages(settings):
    settings.EMAIL_HOST = ""
    assert Client().get(reverse(ASK)).status_code == 404
    assert "Forgotten" not in Client().get(reverse("admin:login")).content.decode()
