"""A builder adds and imports tests, runs them, reads the matrix, and is stopped at publishing."""

from collections.abc import Iterator

from playwright.sync_api import Browser, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Access, Copilot, EvaluationResult
from tests.browser.visits import PHONE, Visit, visiting
from tests.factories import make_published, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def ada(browser: Browser, base_url: str) -> Iterator[Visit]:
    make_user(Role.BUILDERS, Role.PUBLISHERS, username="ada")
    with visiting(browser, base_url, "ada") as person:
        yield person


def test_from_an_empty_tab_to_a_blocked_publication(ada: Visit) -> None:
    copilot = make_published(
        name="Reader", system_prompt="You are careful.", access=Access.OPEN, model="demo"
    )
    Copilot.objects.filter(pk=copilot.pk).update(system_prompt="You are bold.")
    page = ada.page
    ada.go(f"/admin/copilot_admin/copilot/{copilot.pk}/tests/")
    assert ada.grave_findings() == []

    page.locator("#add-test").focus()  # with the keyboard alone
    page.keyboard.press("Enter")
    page.locator("#id_question").focus()
    page.keyboard.type("Who are you?")
    page.locator("#id_contains").focus()
    page.keyboard.type("careful")
    page.locator("#panel-form [name=_save]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#matrix tbody tr")).to_have_count(1)

    page.locator("#import-tests").click()
    csv = "question,expected,number\nHow are you?,,\nAnd now?,,much\n"
    file = {"name": "tests.csv", "mimeType": "text/csv", "buffer": csv.encode()}
    page.locator("#id_file").set_input_files(file)
    page.locator("#panel-form [name=_save]").click()
    expect(page.locator("#import-errors li")).to_have_count(1)
    file["buffer"] = csv.replace("much", "").encode()
    page.locator("#id_file").set_input_files(file)
    page.locator("#panel-form [name=_save]").click()
    expect(page.locator("#matrix tbody tr")).to_have_count(3)

    page.locator("#run-tests").click()
    expect(page.locator("#panel-form [name=targets]:checked")).to_have_count(2)
    assert ada.grave_findings() == []
    page.locator("#panel-form [name=_save]").click()
    expect(page.locator("#tests[data-active=false] [data-target=live]")).to_be_visible()
    assert EvaluationResult.objects.filter(state="done").count() == 6
    expect(page.locator("#matrix td[data-verdict=failed]")).to_have_count(1)
    expect(page.locator("#matrix td[data-verdict=passed]")).to_have_count(5)

    page.locator("#matrix a[aria-expanded]").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("article[data-verdict=failed]")).to_be_visible()
    assert ada.grave_findings() == []
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark")
    assert ada.overflow() <= 0
    assert ada.grave_findings() == []

    page.locator("#set-gate").click()
    page.locator("#id_min_percent").fill("90")
    page.locator("#panel-form [name=_save]").click()
    ada.go(f"/admin/copilot_admin/copilot/publish/?id={copilot.pk}")
    expect(page.locator("[data-tests='2/3']")).to_be_visible()
    expect(page.locator("#publish-form .ca-btn--primary")).to_have_count(0)
