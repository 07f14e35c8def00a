"""Fixtures and hooks of the whole suite."""

from collections.abc import Iterator
from datetime import timedelta
import gc
from math import inf
import os
import signal

from django.core.cache import cache
from django.test import Client, TransactionTestCase
from hypothesis import settings as hypothesis_settings
from limits.aio.storage import MemoryStorage
import prometheus_client  # noqa: F401  # it reads its variable when it is imported, not in some test
import pytest
from pytest_django import DjangoDbBlocker

from copilot_admin.admin.transcripts import list_page
from copilot_admin.agent.providers.demo import DemoModel
from copilot_admin.asgi import application
from copilot_admin.config.roles import Role
from copilot_admin.copilots import live
from copilot_admin.http.auth_throttle import FAILURES
from copilot_admin.jobs.tasks import BACKGROUND
from copilot_admin.limits.admission import REJECTIONS
from copilot_admin.limits.counters import LIMIT_REDIS, RATE_LIMITS, SLOTS
from copilot_admin.limits.usage import LIMIT_CACHE, USAGE_CACHE
from copilot_admin.pricing.prices import clear_price_cache
from copilot_admin.redaction import rules as redaction_rules
from copilot_admin.runs.open_run import REJECTED_RUNS
from copilot_admin.storage import writer
from copilot_admin.storage.writer import READER, WRITER
from copilot_admin.transcripts.store import transcript_store
from copilot_admin.transcripts.store.transcript_store import STORE
from tests.databases import IS_POSTGRESQL, close_other_connections
from tests.factories import make_user
from tests.fast_flush import flush
from tests.live_server import LiveServer, live_server
from tests.polling import HANGS_SECONDS, eventually
from tests.services import missing
from tests.workspace.model_server import ModelServer, model_server

SERVICES = ("browser", "curl", "nginx", "pgbouncer", "postgres", "redis")
SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)

# Few examples, the same in every run. `--hypothesis-profile nightly` looks for more.
hypothesis_settings.register_profile(
    "reproducible", derandomize=True, deadline=None, max_examples=30
)
hypothesis_settings.register_profile(
    "nightly", parent=hypothesis_settings.get_profile("reproducible"), max_examples=500
)
hypothesis_settings.load_profile("reproducible")


DemoModel.word_seconds = 0  # its pace is for people


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run a test of a real browser or server once more if it fails in CI."""
    if os.environ.get("CI"):
        for item in items:
            if any(item.get_closest_marker(service) for service in SERVICES):
                item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_collection_finish() -> None:
    """Hide modules and tests from the garbage collector: walking them costs a tenth of a run."""
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose service is missing, or fail it if `REQUIRE_ALL` is set."""
    for service in SERVICES:
        if item.get_closest_marker(service) is None or not missing(service):
            continue
        if os.environ.get("REQUIRE_ALL"):
            pytest.fail(missing(service), pytrace=False)
        pytest.skip(missing(service))


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """End the threads of the writer before their database is dropped.

    PostgreSQL drops no database that somebody is connected to.
    """
    yield
    for thread in (BACKGROUND, WRITER, READER):
        assert thread.stop(timeout=HANGS_SECONDS)
    if IS_POSTGRESQL:
        with django_db_blocker.unblock():
            close_other_connections()


@pytest.fixture(autouse=True, scope="session")
def _fast_flush() -> Iterator[None]:
    """Empty the database after a test that commits.

    Django's `flush` truncates all tables, which the triggers of the audit trail forbid, and makes
    content types, permissions and groups again: 140 ms a test on PostgreSQL.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _test: flush())
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_pauses() -> Iterator[None]:
    """Retry writes at once: a database that refuses in a test refuses a second later too."""
    with pytest.MonkeyPatch.context() as patch:
        pauses = (0.0,) * len(writer.RETRY_PAUSES_SECONDS)
        patch.setattr(writer, "RETRY_PAUSES_SECONDS", pauses)
        yield


@pytest.fixture(autouse=True, scope="session")
def _long_timeouts() -> Iterator[None]:
    """Give other processes time on a busy machine."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (redaction_rules, "SEARCH_SECONDS"),
            (list_page, "COUNT_SECONDS"),
        ):
            patch.setattr(module, name, HANGS_SECONDS)
        yield


@pytest.fixture(autouse=True)
def _reset_caches() -> None:
    """Forget what other tests left in the process: a database that is emptied reuses its ids."""
    live._other_ids.cache_clear()
    live._answerer.cache_clear()
    clear_price_cache()
    LIMIT_CACHE._limits, LIMIT_CACHE._loaded_at = {}, inf
    LIMIT_REDIS.problem = ""
    RATE_LIMITS._memory = MemoryStorage()
    for rows in (REJECTIONS._pending, SLOTS._held, USAGE_CACHE._found):
        rows.clear()
    REJECTED_RUNS.clear()
    FAILURES.reset()
    cache.clear()
    STORE._is_failing = False


@pytest.fixture(autouse=True, scope="session")
def _hear_signals() -> None:
    """Undo the ignoring of signals by a shell that starts pytest in the background.

    Child processes inherit it, and commands that tests interrupt would never end.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def _restore_signals() -> Iterator[None]:
    """Give signals back: commands and servers handle them to the end of their process."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


@pytest.fixture(autouse=True)
def _wait_for_writes(request: pytest.FixtureRequest, _django_db_marker: None) -> Iterator[None]:
    """Wait for background writes of a test before its database is emptied."""
    if {"db", "transactional_db"} & set(request.fixturenames):
        request.getfixturevalue("_django_db_helper")
    yield
    for thread in (BACKGROUND, WRITER, READER):
        assert thread.wait_until_idle(timeout=HANGS_SECONDS)


@pytest.fixture
def reviewer(db: None) -> Client:
    """A browser that is signed in as a reviewer."""
    browser = Client()
    browser.force_login(make_user(Role.REVIEWERS))
    return browser


@pytest.fixture
def builder(client: Client, db: None) -> Client:
    """A browser that is signed in as the builder "ada"."""
    client.force_login(make_user(Role.BUILDERS, username="ada"))
    return client


@pytest.fixture
def operator(client: Client, db: None) -> Client:
    """A browser that is signed in as an operator."""
    client.force_login(make_user(Role.OPERATORS))
    return client


@pytest.fixture(scope="module")
def service(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[LiveServer]:
    """The whole application behind a real socket, started once for a module."""
    with django_db_blocker.unblock(), live_server(application) as server:
        yield server


@pytest.fixture
def service_url(
    service: LiveServer, transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The URL of the service, which is idle again before the database is emptied.

    It takes no run for dead: tests make runs that are long past.
    """
    monkeypatch.setattr(transcript_store, "MAX_RUN_SILENCE", timedelta(days=10_000))
    yield service.url
    assert eventually(service.is_idle), "something still runs on the server"


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model server that plays the script of the test."""
    with model_server() as server:
        yield server
