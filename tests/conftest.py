"""What every test stands on: no network, honest skips, the same random examples every time."""

from collections.abc import Iterator
import os
import socket
from typing import Any

from django.template import Context, RequestContext, Template
from django.test import Client, TransactionTestCase
from django.test.signals import template_rendered
from hypothesis import settings as hypothesis_settings
import pytest
from pytest_django import DjangoDbBlocker

from copilot_admin.agent.files.file_processes import WORKERS
from copilot_admin.copilots import data_fit, live
from copilot_admin.copilots.seen_keys import SEEN_KEYS
from copilot_admin.http.guesses import GUESSES
from copilot_admin.import_export import bundles, validation
from copilot_admin.jobs.background import BACKGROUND
from copilot_admin.jobs.walks import WALKS
from copilot_admin.limits.book import BOOK
from copilot_admin.limits.closed_rates import CLOSED_RATES
from copilot_admin.limits.counting import COUNTING
from copilot_admin.limits.near_limits import NEAR_LIMITS
from copilot_admin.pricing import book
from copilot_admin.redaction import own
from copilot_admin.runs.refused import REFUSED
from copilot_admin.server import sole_server
from copilot_admin.storage import writer
from copilot_admin.storage.writer import READER, WRITER
from copilot_admin.transcripts.store import JOURNAL
from copilot_admin.transcripts.store.seen import forget_noted
from copilot_admin.transcripts.store.usage import forget_callers
from copilot_admin.transcripts.store.users import forget_users
from tests.databases import IS_POSTGRESQL, end_all_others
from tests.emptying import empty
from tests.letting_in import let_in
from tests.services import missing
from tests.signals import listen, put_back
from tests.waiting import HANGS_SECONDS

pytest_plugins = ["tests.by_day", "tests.loading", "tests.fixtures", "tests.spared"]

SERVICES = ("browser", "curl", "nginx", "pgbouncer", "postgres", "redis")
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1", "", None})

# Few examples, the same in every run; what they do not find, the nightly run looks for.
hypothesis_settings.register_profile(
    "reproducible", derandomize=True, deadline=None, max_examples=30
)
hypothesis_settings.register_profile(
    "nightly", parent=hypothesis_settings.get_profile("reproducible"), max_examples=500
)
hypothesis_settings.load_profile("reproducible")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips a test whose service is missing, or fails it where everything has to run."""
    for service in SERVICES:
        if item.get_closest_marker(service) is None or not missing(service):
            continue
        if os.environ.get("REQUIRE_ALL"):
            pytest.fail(missing(service), pytrace=False)
        pytest.skip(missing(service))


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Ends the threads of the journal before their database is dropped, and whoever else is at it.

    PostgreSQL drops none that somebody is connected to. A page of the service that ends in the same
    moment as one of a test's own client stays connected: Django takes away what closes both.
    """
    yield
    for thread in (BACKGROUND, WRITER, READER):
        assert thread.stop(timeout=HANGS_SECONDS)
    if IS_POSTGRESQL:
        with django_db_blocker.unblock():
            end_all_others()


@pytest.fixture(autouse=True, scope="session")
def _emptied_quickly() -> Iterator[None]:
    """Empties the database after a test that has committed, and keeps its connection.

    Django closes it, for the sake of settings that a rollback may have undone; here there are none.
    SQLite lays its log down with the last connection and begins another with the next one: 5 ms.
    """
    patch = pytest.MonkeyPatch()
    patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _test: empty())
    patch.setattr(TransactionTestCase, "_should_reload_connections", lambda _test: False)
    yield
    patch.undo()


@pytest.fixture(autouse=True, scope="session")
def _let_in_quickly() -> Iterator[None]:
    """Makes of `force_login` a session and nothing more, which is all that most tests want."""
    patch = pytest.MonkeyPatch()
    patch.setattr(Client, "force_login", let_in)
    yield
    patch.undo()


@pytest.fixture(autouse=True, scope="session")
def _tries_follow_each_other() -> Iterator[None]:
    """What a database refuses in a test it refuses a second later too."""
    with pytest.MonkeyPatch.context() as patch:
        pauses = (0.0,) * len(writer.RETRY_PAUSES_SECONDS)
        patch.setattr(writer, "RETRY_PAUSES_SECONDS", pauses)
        yield


@pytest.fixture(autouse=True, scope="session")
def _processes_take_their_time() -> Iterator[None]:
    """Lets what is looked for in another process be found, however busy the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (own, "LEAST_SECONDS"),
            (own, "MOST_SECONDS"),
            (bundles, "TRIAL_SECONDS"),
            (validation, "TRIAL_SECONDS"),
            (data_fit, "SECONDS"),
        ):
            patch.setattr(module, name, HANGS_SECONDS)
        yield


@pytest.fixture(autouse=True, scope="session")
def _pages_are_noted(django_test_environment: None) -> Iterator[None]:
    """Keeps what a page was made of for its test, and of its hundreds of fields nothing.

    Django copies the context of every template, and each field of a form is several.
    """

    def render(template: Template, context: Context) -> str:
        if context.template is template and isinstance(context, RequestContext):
            template_rendered.send(sender=template, template=template, context=context)
        return template.nodelist.render(context)

    patch = pytest.MonkeyPatch()
    patch.setattr(Template, "_render", render)
    yield
    patch.undo()


@pytest.fixture(autouse=True)
def _all_is_new() -> None:
    """Forgets other tests: what they guessed and failed at, and their rows.

    A database that is rolled back or emptied gives their ids anew.
    """
    live._other_ids.cache_clear()
    live._answerer.cache_clear()
    book.forget()
    forget_noted()
    forget_users()
    forget_callers()
    for one in (BOOK, COUNTING, CLOSED_RATES, GUESSES, NEAR_LIMITS, REFUSED, SEEN_KEYS, WALKS):
        one.forget()
    JOURNAL._is_failing = False
    sole_server._to_the_end.close()  # who asks the application here starts no server


@pytest.fixture(autouse=True, scope="session")
def _signals_are_heard() -> None:
    """Lets tests interrupt what they start, whoever has started them."""
    listen()


@pytest.fixture(autouse=True)
def _signals_are_put_back() -> Iterator[None]:
    """Lets Ctrl-C end the tests, whoever has handled signals in one of them."""
    with put_back():
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_process_left() -> Iterator[None]:
    """Ends the processes that read files."""
    yield
    WORKERS.stop()


@pytest.fixture(autouse=True, scope="session")
def _only_loopback() -> Iterator[None]:
    """Lets no test reach another machine."""
    patch = pytest.MonkeyPatch()
    connect, resolve = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX:
            _check_loopback(address[0])
        connect(self, address)

    def guarded_resolve(host: Any, *rest: Any, **options: Any) -> Any:
        _check_loopback(host.decode() if isinstance(host, bytes) else host)
        return resolve(host, *rest, **options)

    patch.setattr(socket.socket, "connect", guarded_connect)
    patch.setattr(socket, "getaddrinfo", guarded_resolve)
    yield
    patch.undo()


def _check_loopback(host: str | None) -> None:
    if host not in LOOPBACK_NAMES and not str(host).startswith("127."):
        pytest.fail(f"a test tried to reach {host}")
