"""People at a browser, watched for everything that must not happen."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Response

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1360, "height": 900}
GRAVE = frozenset({"serious", "critical"})


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

    def log_in(self, username: str, password: str = "secret") -> None:
        """Logs in through the form."""
        self.go("/admin/login/")
        self.page.locator("#id_username").fill(username)  # found in every language
        self.page.locator("#id_password").fill(password)
        self.page.keyboard.press("Enter")
        self.page.locator("#user-tools").wait_for()

    def grave_findings(self) -> list[tuple[str, str]]:
        """What axe finds serious or critical: the rule and the first element.

        Axe itself breaks the policy of the page; what the console says of that is no mishap.
        """
        before = list(self.mishaps)
        found = Axe().run(self.page).response["violations"]
        self.mishaps[:] = before
        return [
            (rule["id"], rule["nodes"][0]["html"][:200])
            for rule in found
            if rule["impact"] in GRAVE
        ]

    def overflow(self) -> int:
        """Pixels by which the page is wider than its window."""
        width: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return width

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.mishaps.append(message.text)

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self.mishaps.append(f"{response.status} {response.url}")
        if urlsplit(response.url).netloc not in (urlsplit(self.base_url).netloc, ""):
            self.mishaps.append(f"foreign request: {response.url}")


def visit(browser: Browser, base_url: str, **options: Any) -> Visit:
    """A new person with cookies of their own."""
    context = browser.new_context(**{"viewport": DESK, "locale": "en", **options})
    return Visit(context.new_page(), base_url)
