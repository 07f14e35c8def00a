"""Two superusers take each other's rights at the same moment; with two connections to PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor
import threading
from typing import Any

from django.contrib.auth.models import User
from django.db import connections, transaction
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.admin.access import lockout
from tests.databases import on_postgresql
from tests.factories import make_user
from tests.polling import HANGS_SECONDS

pytestmark = [pytest.mark.database, on_postgresql, pytest.mark.django_db(transaction=True)]
PAGES = {"delete": {"post": "yes"}, "change": {"is_active": "on", "is_staff": "on"}}


@pytest.mark.parametrize("page", PAGES)
def test_one_of_two_who_take_each_others_rights_is_left(
    page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2, timeout=HANGS_SECONDS)
    are_the_last = lockout._are_the_last

    def together(people: Any) -> bool:
        """Both have read whom they take the rights of; neither has asked who is left."""
        both.wait()
        return are_the_last(people)

    ann, lee = (make_user(username=name, is_superuser=True) for name in ("ann", "lee"))
    pairs = ((_browser(ann), lee), (_browser(lee), ann))
    monkeypatch.setattr(lockout, "_are_the_last", together)

    def take(pair: tuple[Client, User]) -> str:
        browser, person = pair
        address = reverse(f"admin:auth_user_{page}", args=[person.pk])
        try:
            return browser.post(
                address, {"username": person.username, **PAGES[page]}
            ).content.decode()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(take, pairs))
    refused = [text for text in answers if "Nobody who may do everything would be left" in text]
    assert (len(refused), User.objects.filter(is_superuser=True).count()) == (1, 1)


def _browser(person: User) -> Client:
    browser = Client()
    with transaction.atomic():
        browser.force_login(person)
    return browser
