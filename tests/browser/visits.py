"""People at a browser, watched for everything that must not happen."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Response, expect
import pytest

from tests.polling import HANGS_SECONDS

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1360, "height": 900}
# A tour in the first look tries the width of a phone as well.
LOOKS = (
    pytest.param({"color_scheme": "light"}, id="light"),
    pytest.param({"color_scheme": "dark"}, id="dark", marks=pytest.mark.nightly),
    pytest.param(
        {"color_scheme": "light", "viewport": PHONE}, id="phone", marks=pytest.mark.nightly
    ),
)
GRAVE = ["serious", "critical"]
# Only what is wrong leaves the page: to hand over all that axe has seen takes as long as to look. Rules
# that find nothing grave, whatever they find, are left out: they are a quarter of the work.
FIND = """([grave, part]) => {
    const { rules, data } = axe._audit;
    const isGrave = ({ impact, any, all, none }) =>
        [impact, ...[any, all, none].flat().map((one) => data.checks[one.id ?? one].impact)].some(
            (one) => grave.includes(one));
    const others = rules.filter((rule) => !isGrave(rule)).map(({ id }) => [id, { enabled: false }]);
    return axe.run(part ?? document, { rules: Object.fromEntries(others), resultTypes: ["violations"] }).then(
        ({ violations }) => violations
            .filter(({ impact }) => grave.includes(impact))
            .map(({ id, nodes }) => [id, nodes[0].html]));
}"""


@dataclass
class Visit:
    """A person at a page.

    Attributes:
        mishaps: Errors of the console, refused by the policy, failed or foreign requests.
    """

    page: Page
    base_url: str
    mishaps: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.mishaps.append(str(error)))
        self.page.on("response", self._answered)

    def go(self, path: str) -> None:
        """Opens a page of the server."""
        self.page.goto(self.base_url + path)

    def log_in(self, username: str) -> None:
        """Takes the cookie of somebody who has logged in; the form has a test of its own."""
        client = Client()
        client.force_login(User.objects.get(username=username))
        name = settings.SESSION_COOKIE_NAME
        cookie = {"name": name, "value": client.cookies[name].value, "url": self.base_url}
        self.page.context.add_cookies([cookie])

    def unfold(self) -> None:
        """Open everything that is folded, and wait until its content is requested."""
        self.page.evaluate(
            "document.querySelectorAll('main details').forEach((one) => { one.open = true; })"
        )
        expect(self.page.locator("main details > [data-load]")).to_have_count(0)

    def next_frames(self) -> None:
        """Lets the page draw what it has, and do what it does when it is drawn."""
        self.page.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def grave_findings(self, part: Locator | None = None) -> list[tuple[str, str]]:
        """What axe finds serious or critical: the rule and the first element.

        Axe itself breaks the policy of the page; what the console says of that is no mishap.

        Args:
            part: What is new on a page that a tour looks at as a whole: of the form of a copilot
                that takes a second each time.
        """
        before = list(self.mishaps)
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(Axe().axe_script)
        found = self.page.evaluate(FIND, [GRAVE, part and part.element_handle()])
        self.mishaps[:] = before
        return [(rule, html[:200]) for rule, html in found]

    def overflow(self) -> int:
        """Pixels by which the page is wider than its window."""
        width: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return width

    def overflow_on_tour(self) -> int:
        """Return the overflow here or on a phone, whichever is larger."""
        window = self.page.viewport_size
        assert window is not None
        found = self.overflow()
        self.page.set_viewport_size(PHONE)
        found = max(found, self.overflow())
        self.page.set_viewport_size(window)
        return found

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.mishaps.append(message.text)

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self.mishaps.append(f"{response.status} {response.url}")
        if urlsplit(response.url).netloc not in (urlsplit(self.base_url).netloc, ""):
            self.mishaps.append(f"foreign request: {response.url}")


def visit(browser: Browser, base_url: str, **options: Any) -> Visit:
    """A new person with cookies of their own, for whom nothing moves: what axe sees stands still."""
    context = browser.new_context(
        **{"viewport": DESK, "locale": "en", "reduced_motion": "reduce", **options}
    )
    context.set_default_timeout(HANGS_SECONDS * 1000)
    return Visit(context.new_page(), base_url)


@contextmanager
def visiting(browser: Browser, base_url: str, name: str, **options: Any) -> Iterator[Visit]:
    """Somebody who has logged in, for as long as the block lasts; nothing untoward may happen."""
    person = visit(browser, base_url, **options)
    person.log_in(name)
    yield person
    person.page.context.close()
    assert person.mishaps == []
