"""Fixtures of the browser tests.

`make test` runs the journeys and a tour of all pages in one look; other looks are `nightly`.
"""

from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright
import pytest

from tests.polling import HANGS_SECONDS
from tests.services import chromium

# Debian's Chromium as root in a container, and none of its calls home. Pages are drawn by the
# processor at once: to imitate a graphics card first took a tenth of all.
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-software-rasterizer",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ROOM = Path(__file__).parent
expect.set_options(timeout=HANGS_SECONDS * 1000)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts these tests behind all others, so that one Chromium is enough for them."""
    items.sort(key=lambda item: ROOM in item.path.parents)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A Chromium; it ends with its room, since it keeps an event loop in the test's thread."""
    patch = pytest.MonkeyPatch()
    # That loop is of the browser only: Django's guard against the database in one is mistaken.
    patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        yield started
        started.close()
    patch.undo()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a context of its own, without the cookies of other tests."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture
def base_url(service_url: str) -> str:
    """The address of the service."""
    return service_url
