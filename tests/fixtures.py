"""What the tests share that ask the whole service."""

from collections.abc import Iterator

from django.test import Client
import pytest

from copilot_admin.asgi import application
from copilot_admin.config.roles import Role
from copilot_admin.storage.writer import READER, WRITER
from tests.factories import make_user
from tests.live_server import serving
from tests.workspace.model_server import ModelServer, model_server


@pytest.fixture(autouse=True)
def _all_is_written(request: pytest.FixtureRequest, _django_db_marker: None) -> Iterator[None]:
    """What a test left to be written is there before its database is emptied.

    A record that is still on its way would wait for the emptying, and the emptying for it.
    """
    if {"db", "transactional_db"} & set(request.fixturenames):
        request.getfixturevalue("_django_db_helper")
    yield
    for thread in (WRITER, READER):
        assert thread.wait_until_idle(timeout=10)


@pytest.fixture
def reviewer(db: None) -> Client:
    """The browser of somebody who reads transcripts."""
    browser = Client()
    browser.force_login(make_user(Role.REVIEWERS))
    return browser


@pytest.fixture
def service_url(transactional_db: None) -> Iterator[str]:
    """The address of the whole application behind a real socket."""
    with serving(application) as address:
        yield address


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model server that plays the test's script."""
    with model_server() as server:
        yield server
