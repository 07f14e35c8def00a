"""Sign-in with a password: limits of guesses, new passwords, and what the log says."""

from collections.abc import Iterator
import logging
import threading
from typing import Any

from django.contrib.auth.password_validation import get_password_validators, validate_password
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin import settings as product
from copilot_admin.accounts import passwords
from copilot_admin.models import Action, AuditEntry
from tests.factories import make_user

LIMIT = 10
NEW_PASSWORD = "brave-otter-77-sings"


def attempt(username: str, password: str, *, address: str = "192.0.2.1") -> int:
    """Return the status of one attempt; 302 signs in."""
    values = {"login": username, "password": password}
    return Client(REMOTE_ADDR=address).post(reverse("account_login"), values).status_code


@pytest.fixture
def person(db: None) -> Any:
    return make_user(is_superuser=True)


def test_ten_failures_lock_the_account_at_this_address_only(person, caplog):
    guesses = [attempt(person.username, "wrong") for _ in range(LIMIT)]
    assert guesses == [200] * LIMIT
    with caplog.at_level(logging.WARNING):
        assert attempt(person.username.upper(), "secret") == 429
    assert "secret" not in caplog.text
    assert attempt(person.username, "secret", address="198.51.100.9") == 302
    assert attempt(make_user().username, "secret") == 302


def test_wrong_names_lock_out_nobody_behind_the_address(person):
    for number in range(3 * LIMIT):
        attempt(f"guess-{number}", "wrong")
    assert attempt(person.username, "secret") == 302


def test_guesses_from_many_addresses_lock_the_account(person):
    for number in range(100):
        attempt(person.username, "wrong", address=f"2001:db8:{number:x}::1")
    assert attempt(person.username, "secret") == 429


def test_a_success_forgets_the_failures_of_the_account(person):
    for _ in range(2):
        for _ in range(LIMIT - 1):
            assert attempt(person.username, "wrong") == 200
        assert attempt(person.username, "secret") == 302


def test_an_unknown_name_is_neither_logged_nor_stored(db, caplog):
    """People type their password into the field above it."""
    with caplog.at_level(logging.DEBUG):
        for _ in range(LIMIT + 1):
            attempt("correct-horse\nERROR forged", "wrong-secret")
    marks = set(AuditEntry.objects.values_list("subject_name", flat=True))
    assert {mark.partition(":")[0] for mark in marks} == {"unknown"}
    assert not any(word in caplog.text for word in ("secret", "horse", "forged"))


def test_wrong_guesses_on_change_password_count(client, person):
    client.force_login(person)
    new = {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    url = reverse("account_change_password")
    for _ in range(LIMIT):
        client.post(url, {"oldpassword": "wrong", **new})
    client.post(url, {"oldpassword": "secret", **new})
    person.refresh_from_db()
    assert person.check_password("secret")
    assert AuditEntry.objects.filter(action=Action.LOGIN_FAILED).count() == LIMIT + 1


def test_a_changed_password_keeps_this_session_and_ends_the_others(client, person):
    other = Client()
    for one in (client, other):
        one.force_login(person)
    new = {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    url = reverse("account_change_password")
    assert client.post(url, {"oldpassword": "secret", **new}).status_code == 302
    assert (client.get("/admin/").status_code, other.get("/admin/").status_code) == (200, 302)
    assert AuditEntry.objects.filter(action=Action.PASSWORD_CHANGED).count() == 1


@pytest.mark.parametrize(
    ("password", "code"),
    [
        ("short-9X", "password_too_short"),
        ("aaaaaaaaaaaa", "password_too_simple"),
        ("abababababab", "password_too_simple"),
        ("Summer1Summer1", "password_too_simple"),
        ("abcdefghijklmn", "password_too_simple"),
        ("918273645546", "password_entirely_numeric"),
        ("qweasdzxc123", "password_too_common"),
        ("katharina-maier1", "password_too_similar"),
        (NEW_PASSWORD, None),
    ],
)
def test_new_passwords_are_checked(db, password, code):
    user = make_user(username="katharina-maier", last_name="Maier")
    validators = get_password_validators(product.AUTH_PASSWORD_VALIDATORS)
    try:
        validate_password(password, user, validators)
    except ValidationError as error:
        assert code in {one.code for one in error.error_list}
    else:
        assert code is None


class TestHashing:
    @pytest.fixture
    def argon2(self, settings) -> Iterator[None]:
        settings.PASSWORD_HASHERS = ["copilot_admin.accounts.passwords.SingleThreadedArgon2"]
        yield

    def test_too_many_sign_ins_at_once_are_asked_to_come_back(
        self, argon2, monkeypatch, client, person
    ):
        monkeypatch.setattr(passwords, "MAX_WAIT_SECONDS", 0.0)
        monkeypatch.setattr(passwords, "_SEMAPHORE", threading.Semaphore(0))
        client.raise_request_exception = False
        values = {"login": person.username, "password": "secret"}
        page = client.post(reverse("account_login"), values)
        assert (page.status_code, page["Retry-After"]) == (503, "5")
