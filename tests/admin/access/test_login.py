"""Logging in: limited failures for an account and for an address, and one hash at a time."""

from collections.abc import Iterator
import logging
import threading
from typing import Any

from axes.models import AccessAttempt
from django.contrib.auth.hashers import make_password
from django.test import Client, RequestFactory
from django.urls import reverse
import pytest

from copilot_admin.accounts import passwords
from copilot_admin.accounts.passwords import SingleThreadedArgon2
from copilot_admin.admin.site.sign_ins import client_address
from tests.factories import make_user

LIMIT = 10


def attempt(username: str, password: str, *, address: str = "192.0.2.1") -> int:
    """The status of the answer to one attempt; 302 lets in."""
    client = Client(REMOTE_ADDR=address)
    values = {"username": username, "password": password}
    return client.post(reverse("admin:login"), values).status_code


@pytest.fixture
def person(db: None) -> Any:
    return make_user(is_superuser=True)


def test_an_account_is_locked_after_ten_failures_from_anywhere(person, caplog):
    guesses = [
        attempt(person.username, "wrong", address=f"192.0.2.{number}") for number in range(LIMIT)
    ]
    assert guesses == [200] * (LIMIT - 1) + [429]
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        assert attempt(person.username, "secret", address="198.51.100.9") == 429
    line = f"Log-in refused after too many failures: account {person.username} from 198.51.100.9."
    assert caplog.messages == [line]
    assert "secret" not in caplog.text


def test_each_failure_is_one_line_with_account_and_address(person, caplog):
    attempt(person.username, "wrong-secret", address="198.51.100.9")
    attempt("correct-horse\nERROR forged", "wrong-secret")
    [known, unknown] = caplog.records
    assert {known.levelname, unknown.levelname} == {"WARNING"}
    assert known.getMessage() == f"Log-in failed: account {person.username} from 198.51.100.9."
    assert unknown.getMessage().startswith("Log-in failed: account unknown:")
    assert not any(word in caplog.text for word in ("secret", "horse", "forged"))


def test_an_address_is_locked_after_ten_failures_at_any_account(person):
    for number in range(LIMIT):
        attempt(f"guess-{number}", "wrong")
    assert attempt(person.username, "secret") == 429
    assert attempt(person.username, "secret", address="198.51.100.9") == 302


def test_a_name_that_is_no_account_is_neither_logged_nor_kept(db, caplog):
    """People type their password into the field above it."""
    with caplog.at_level(logging.DEBUG):
        for _ in range(LIMIT + 1):
            status = attempt("correct-horse-battery", "wrong")
    assert status == 429
    mark = AccessAttempt.objects.get().username
    assert mark.startswith("unknown:")
    line = f"Log-in refused after too many failures: account {mark} from 192.0.2.1."
    assert caplog.messages.count(line) == 2
    assert "correct-horse" not in caplog.text
    assert "correct-horse" not in str(list(AccessAttempt.objects.values()))


def test_the_page_says_how_long_to_wait(person):
    for _ in range(LIMIT):
        attempt(person.username, "wrong")
    client = Client()
    values = {"username": person.username, "password": "secret"}
    page = client.post(reverse("admin:login"), values)
    assert (page.status_code, "Wait 15 minutes" in page.content.decode()) == (429, True)
    assert page["Retry-After"] == "900"


def test_a_success_forgets_the_failures_of_the_account(person):
    for _ in range(2):
        for _ in range(LIMIT - 1):
            assert attempt(person.username, "wrong") == 200
        assert attempt(person.username, "secret") == 302


@pytest.mark.parametrize(
    ("given", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::"),
        ("2001:db8:1:2:bbbb::2", "2001:db8:1:2::"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("", None),
        ("testclient", None),
    ],
)
def test_addresses_of_one_network_of_ipv6_count_as_one(given, counted):
    assert client_address(RequestFactory().get("/", REMOTE_ADDR=given)) == counted


class TestHashing:
    @pytest.fixture
    def argon2(self, settings) -> Iterator[None]:
        settings.PASSWORD_HASHERS = ["copilot_admin.accounts.passwords.SingleThreadedArgon2"]
        yield

    def test_a_hash_has_one_lane_and_is_found_again(self, argon2):
        encoded = make_password("a long password")
        assert encoded.startswith("argon2$argon2id$v=19$m=65536,t=3,p=1$")
        hasher = SingleThreadedArgon2()
        assert hasher.verify("a long password", encoded)
        assert not hasher.verify("another", encoded)

    def test_too_many_people_at_once_are_told_to_come_back(
        self, settings, monkeypatch, client, person, caplog
    ):
        monkeypatch.setattr(passwords, "MAX_WAIT_SECONDS", 0.0)
        monkeypatch.setattr(passwords, "_SEMAPHORE", threading.Semaphore(0))
        settings.PASSWORD_HASHERS = ["copilot_admin.accounts.passwords.SingleThreadedArgon2"]
        client.raise_request_exception = False
        values = {"username": person.username, "password": "secret"}
        page = client.post(reverse("admin:login"), values)
        assert (page.status_code, page["Retry-After"]) == (503, "5")
        [line] = caplog.records
        assert (line.levelname, line.getMessage()) == (
            "WARNING",
            "request answered with 503: Too many people are signing in. Try again in a few seconds.; "
            f"a log-in of account {person.username} from 127.0.0.1",
        )
