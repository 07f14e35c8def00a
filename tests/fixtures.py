"""What the tests share that ask the whole service."""

from collections.abc import Iterator
from datetime import timedelta

from django.test import Client
import pytest
from pytest_django import DjangoDbBlocker

from copilot_admin.asgi import application
from copilot_admin.config.roles import Role
from copilot_admin.jobs.background import BACKGROUND
from copilot_admin.storage.writer import READER, WRITER
from copilot_admin.transcripts.store import reaping
from tests.factories import make_user
from tests.live_server import LiveServer, live_server
from tests.waiting import HANGS_SECONDS, eventually
from tests.workspace.model_server import ModelServer, model_server


@pytest.fixture(autouse=True)
def _all_is_written(request: pytest.FixtureRequest, _django_db_marker: None) -> Iterator[None]:
    """What a test left to be written is there before its database is emptied.

    A record that is still on its way would wait for the emptying, and the emptying for it.
    """
    if {"db", "transactional_db"} & set(request.fixturenames):
        request.getfixturevalue("_django_db_helper")
    yield
    for thread in (BACKGROUND, WRITER, READER):
        assert thread.wait_until_idle(timeout=HANGS_SECONDS)


@pytest.fixture
def reviewer(db: None) -> Client:
    """The browser of somebody who reads transcripts."""
    browser = Client()
    browser.force_login(make_user(Role.REVIEWERS))
    return browser


@pytest.fixture(scope="module")
def service(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[LiveServer]:
    """The whole application behind a real socket; it starts once for all tests of a module."""
    with django_db_blocker.unblock(), live_server(application) as server:
        yield server


@pytest.fixture
def service_url(
    service: LiveServer, transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The address of the service, which is idle again before the database is emptied.

    It takes no run for dead: nobody answers those that tests make, at a time that is long past.
    """
    monkeypatch.setattr(reaping, "SILENCE", timedelta(days=10_000))
    yield service.url
    assert eventually(service.is_idle), "something still runs on the server"


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model server that plays the test's script."""
    with model_server() as server:
        yield server
