"""What is looked for on a page is found."""

from playwright.sync_api import Page
import pytest

from tests.browser.visits import Visit

pytestmark = pytest.mark.browser


def test_what_is_grave_is_found_in_the_part_that_is_looked_at(page: Page) -> None:
    page.set_content('<p id="well">Well.</p><p id="bad"><img src=""></p>')
    person = Visit(page, "")
    assert person.grave_findings(page.locator("#bad")) == [("image-alt", '<img src="">')]
    assert person.grave_findings(page.locator("#well")) == []
    assert ("image-alt", '<img src="">') in person.grave_findings()
