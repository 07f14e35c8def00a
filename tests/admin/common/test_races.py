"""A row that somebody else deletes, or makes, between the look of a page at it and what the page writes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot, Criterion, ReviewQueue
from tests.admin.pages import merged, read_form
from tests.factories import make_copilot, make_user

pytestmark = pytest.mark.django_db
AS_A_BROWSER = {"headers": {"Accept": "text/html"}}


@contextmanager
def somebody_quicker(verb: str, table: str, act: Callable[[], object]) -> Iterator[None]:
    """Lets somebody act once, right before the first statement that begins so."""
    start = f'{verb} "{table}"'
    left = [act]

    def wrapper(execute: Any, sql: str, *args: Any) -> Any:
        if sql.startswith(start) and left:
            left.pop()()
        return execute(sql, *args)

    with connection.execute_wrapper(wrapper):
        yield
    assert not left, "nothing was written"


def _browser(*roles: Role) -> Client:
    client = Client()
    client.force_login(make_user(*roles))
    return client


def test_a_copilot_that_goes_as_it_is_switched():
    copilot = make_copilot()
    client = _browser(Role.BUILDERS)
    address = reverse("admin:copilot_admin_copilot_at_once", args=[copilot.pk])
    form = read_form(client, address, form_id="at-once-form")
    form["now-logging"] = ["metadata"]
    with somebody_quicker("UPDATE", "copilot_admin_copilot", Copilot.objects.all().delete):
        page = client.post(address, form, **AS_A_BROWSER)
    assert (page.status_code, b"was deleted meanwhile" in page.content) == (404, True)


def test_one_of_several_that_goes_as_all_are_switched_leaves_all_as_they_were():
    stays, goes = make_copilot(slug="a"), make_copilot(slug="b", name="B")
    client = _browser(Role.BUILDERS)
    chosen = {"action": "disable_chosen", "_selected_action": [stays.pk, goes.pk]}
    deleted = Copilot.objects.filter(pk=goes.pk).delete
    with somebody_quicker("UPDATE", "copilot_admin_copilot", deleted):
        page = client.post(
            reverse("admin:copilot_admin_copilot_changelist"), chosen, **AS_A_BROWSER
        )
    assert (page.status_code, b"was deleted meanwhile" in page.content) == (404, True)
    stays.refresh_from_db()
    assert stays.enabled


def test_a_queue_that_goes_as_it_is_closed():
    queue = ReviewQueue.objects.create(name="Queue")
    client = _browser(Role.REVIEWERS)
    address = reverse("admin:copilot_admin_reviewqueue_close", args=[queue.pk])
    with somebody_quicker("UPDATE", "copilot_admin_reviewqueue", ReviewQueue.objects.all().delete):
        page = client.post(address, {"closed": "1"}, **AS_A_BROWSER)
    assert (page.status_code, b"was deleted meanwhile" in page.content) == (404, True)


def test_a_name_that_somebody_takes_in_the_same_moment():
    client = _browser(Role.OPERATORS)
    address = reverse("admin:copilot_admin_criterion_add")
    form = merged(read_form(client, address, form_id="criterion_form"), {"name": "Wrong"})

    def made() -> None:
        Criterion.objects.create(name="Wrong")

    with somebody_quicker("INSERT INTO", "copilot_admin_criterion", made):
        page = client.post(address, form, **AS_A_BROWSER)
    assert (page.status_code, b"send it again" in page.content) == (409, True)
    assert (
        Criterion.objects.count() == 0
    )  # the other's went with this transaction, as the test has one
