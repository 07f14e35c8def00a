"""Two people do something with one copilot at the same moment; with two connections to PostgreSQL."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from django.db import OperationalError, connection, connections, transaction
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.admin.copilots import views
from copilot_admin.admin.copilots.views import CopilotViews
from copilot_admin.config.roles import Role
from copilot_admin.copilots.archive import archive_copilots
from copilot_admin.models import Copilot
from tests.admin.pages import messages_of, read_form
from tests.databases import on_postgresql
from tests.factories import make_copilot, make_user

pytestmark = [pytest.mark.database, on_postgresql, pytest.mark.django_db(transaction=True)]
LIST = "/admin/copilot_admin/copilot/"


def quickly(act: Callable[[], object]) -> bool:
    """Does something over another connection; whether nobody is in its way."""

    def done() -> bool:
        try:
            with transaction.atomic():
                with connection.cursor() as cursor:
                    cursor.execute("SET LOCAL lock_timeout = 1")  # milliseconds
                act()
        except OperationalError:
            return False
        else:
            return True
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(done).result()


@contextmanager
def right_after(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, act: Callable[[], object]
) -> Iterator[None]:
    """Lets somebody else act, if he can, when a page has called a function."""
    real = getattr(owner, name)

    def called(*arguments: Any, **options: Any) -> Any:
        result = real(*arguments, **options)
        quickly(act)
        return result

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, called)
        yield


@pytest.fixture
def builder(client: Client) -> Client:
    with transaction.atomic():
        client.force_login(make_user(Role.BUILDERS))
    return client


def test_what_is_published_is_what_was_seen(builder, monkeypatch):
    copilot = make_copilot(description="Seen")
    address = f"{reverse('admin:copilot_admin_copilot_publish')}?id={copilot.pk}"
    form = read_form(builder, address, form_id="publish-form")

    def save() -> None:
        Copilot.objects.update(description="Seen by nobody")

    with right_after(monkeypatch, views, "drafts_of", save):
        builder.post(address, form)
    copilot.refresh_from_db()
    assert copilot.live.document["description"] == "Seen"


def archive() -> None:
    archive_copilots(list(Copilot.objects.values_list("pk", flat=True)))


def test_one_that_is_put_away_is_not_switched_on_from_the_list(builder, monkeypatch):
    copilot = make_copilot(enabled=False)
    chosen = {"action": "enable_chosen", "_selected_action": [copilot.pk]}
    real = Copilot.save

    def save(row: Copilot, **options: Any) -> None:
        quickly(archive)
        real(row, **options)

    monkeypatch.setattr(Copilot, "save", save)
    page = builder.post(LIST, chosen, follow=True)
    copilot.refresh_from_db()
    assert messages_of(page) == ["One copilot was enabled."]
    assert (copilot.enabled, copilot.is_archived) == (True, False)


def test_one_that_is_put_away_is_not_switched_on_beside_its_form(builder, monkeypatch):
    copilot = make_copilot(enabled=False)
    address = reverse("admin:copilot_admin_copilot_settings", args=[copilot.pk])
    form = read_form(builder, address, form_id="settings-form") | {"now-enabled": ["on"]}
    with right_after(monkeypatch, CopilotViews, "looked_at", archive):
        page = builder.post(address, form)
    copilot.refresh_from_db()
    assert (page.status_code, copilot.enabled, copilot.is_archived) == (302, True, False)
