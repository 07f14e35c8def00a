"""A builder writes data notes in a real browser."""

from collections.abc import Iterator

from playwright.sync_api import Browser, expect
import pytest

from copilot_admin.models import Copilot
from copilot_admin.roles import Role
from tests.browser.visits import Visit, visit
from tests.factories import make_copilot, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def ada(browser: Browser, base_url: str) -> Iterator[Visit]:
    make_user(Role.BUILDERS, username="ada")
    person = visit(browser, base_url)
    person.log_in("ada")
    yield person
    person.page.context.close()
    assert person.mishaps == []


def test_a_note_gets_a_schema_a_form_and_another_place(ada: Visit) -> None:
    notes = [{"kind": "user", "data": {"age": 30}}, {"kind": "state", "data": 1}]
    copilot = make_copilot(data_notes=notes)
    page = ada.page
    ada.go(f"/admin/copilot_admin/copilot/{copilot.pk}/change/")
    rows = page.locator('[data-ca-rows="data_notes"] [data-ca-row]')

    page.get_by_role("button", name="Make a schema from the data").first.click()
    rows.first.locator(".ca-note-form input").fill("31")
    expect(page.locator("#preview")).to_contain_text('"age": 31')
    rows.first.scroll_into_view_if_needed()

    rows.first.get_by_role("button", name="Move down").press("Enter")
    expect(rows.first.locator('[name$="-kind"]')).to_have_value("state")
    # The rows are higher than the window, so the browser's events are sent without a mouse.
    carried = page.evaluate_handle("new DataTransfer()")
    rows.nth(1).locator("[data-ca-handle]").dispatch_event("dragstart", {"dataTransfer": carried})
    rows.first.dispatch_event("dragover", {"dataTransfer": carried, "clientY": -9999})
    rows.first.locator("[data-ca-handle]").dispatch_event("dragend", {"dataTransfer": carried})
    expect(rows.first.locator('[name$="-kind"]')).to_have_value("user")
    rows.first.get_by_role("button", name="Move down").press("Enter")
    page.get_by_role("button", name="Save", exact=False).first.click()
    expect(page.get_by_text("Draft saved.")).to_be_visible()

    copilot = Copilot.objects.get()
    assert copilot.data_notes == [
        {"kind": "state", "data": 1},
        {
            "kind": "user",
            "data": {"age": 31},
            "schema": {"type": "object", "properties": {"age": {"type": "integer"}}},
        },
    ]
