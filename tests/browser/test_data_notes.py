"""A builder writes data notes in a real browser."""

from collections.abc import Iterator
import os
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot
from tests.browser.visits import DESK, PHONE, Visit, visiting
from tests.factories import make_copilot, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PICTURES = os.environ.get("TEST_PICTURES", "")  # a folder: what the pages look like is kept there
FORM = "/admin/copilot_admin/copilot/{}/change/"
HOUSE: dict[str, Any] = {
    "type": "object",
    "required": ["tone", "name"],
    "properties": {
        "tone": {
            "type": "string",
            "enum": ["dry", "warm"],
            "title": "Tone",
            "description": "How answers sound.",
        },
        "name": {"type": "string"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 10},
        "share": {"type": ["number", "null"], "exclusiveMinimum": 0},
        "strict": {"type": "boolean"},
        "regions": {"type": "array", "items": {"type": "string"}},
        "days": {"type": "array", "items": {"$ref": "#/$defs/day"}},
        "desk": {
            "title": "The desk",
            "properties": {"lead": {"type": "string"}, "level": {"enum": [1, 2, None]}},
        },
        "rows": {"type": "array", "items": {"type": "object"}},
    },
    "$defs": {"day": {"type": "integer"}},
}


@pytest.fixture
def ada(browser: Browser, base_url: str) -> Iterator[Visit]:
    make_user(Role.BUILDERS, username="ada")
    with visiting(browser, base_url, "ada") as person:
        yield person


def rows_of(person: Visit) -> Locator:
    return person.page.locator('[data-ca-rows="data_notes"] [data-ca-row]')


def save(person: Visit) -> list[dict[str, Any]]:
    person.page.get_by_role("button", name="Save draft").click()
    expect(person.page.get_by_text("Draft saved.")).to_be_visible()
    return list(Copilot.objects.get().data_notes)


def open_page(person: Visit, *notes: dict[str, Any]) -> Locator:
    copilot = make_copilot(data_notes=list(notes))
    person.go(FORM.format(copilot.pk))
    person.tab("Data and tools")
    return rows_of(person).first


@pytest.mark.nightly
def test_a_note_gets_a_schema_and_a_form(ada: Visit) -> None:
    row = open_page(ada, {"kind": "user", "data": {"age": 30}})

    row.get_by_role("button", name="Make a schema from the data").click()
    row.get_by_label("age").fill("31")

    expect(ada.page.locator("#preview")).to_contain_text('"age": 31')
    expect(row.get_by_label("Data", exact=True)).to_be_hidden()
    row.get_by_text("As JSON", exact=True).click()
    expect(row.get_by_label("Data", exact=True)).to_have_value('{\n  "age": 31\n}')
    assert save(ada) == [
        {
            "kind": "user",
            "data": {"age": 31},
            "schema": {"type": "object", "properties": {"age": {"type": "integer"}}},
        }
    ]


@pytest.mark.nightly
def test_a_schema_becomes_a_form_of_all_its_fields(ada: Visit) -> None:
    given = {"tone": "dry", "regions": ["EU", "US"], "rows": [{"a": 1}], "other": True}
    row = open_page(ada, {"kind": "house", "data": given, "schema": HOUSE})

    expect(row.get_by_text("How answers sound.", exact=True)).to_be_visible()
    expect(row.get_by_text("rows is written as JSON below.", exact=True)).to_be_visible()
    marked = row.locator(".ca-note-required").all_inner_texts()
    assert marked == ["Tone", "name"]
    row.get_by_label("Tone").select_option("warm")
    row.get_by_label("name").fill("Macro")
    row.get_by_label("limit").fill("3")
    row.get_by_label("share").fill("0.5")
    row.get_by_label("strict").check()
    row.get_by_role("button", name="Remove 1 of regions").press("Enter")
    row.get_by_role("button", name="Add to regions").press("Enter")
    ada.page.keyboard.type("Asia")
    row.get_by_role("button", name="Add to days").click()
    row.get_by_label("days 1").fill("5")
    desk = row.get_by_role("group", name="The desk")
    desk.get_by_label("lead").fill("Ada")
    desk.get_by_label("level").select_option("2")

    [note] = save(ada)

    assert note["data"] == {
        "tone": "warm",
        "regions": ["US", "Asia"],
        "rows": [{"a": 1}],
        "other": True,
        "name": "Macro",
        "limit": 3,
        "share": 0.5,
        "strict": True,
        "days": [5],
        "desk": {"lead": "Ada", "level": 2},
    }


@pytest.mark.nightly
def test_notes_are_put_in_order_with_the_keyboard(ada: Visit) -> None:
    open_page(ada, *({"kind": kind, "data": {"by": kind}} for kind in ("user", "user", "b")))
    rows = rows_of(ada)
    rows.nth(1).locator('[name$="-data"]').fill('{"by": "later"}')
    expect(ada.page.locator("#preview")).to_contain_text('"by": "later"')

    rows.nth(1).get_by_role("button", name="Move up").press("Enter")

    expect(ada.page.locator("#preview")).to_contain_text('"by": "user"')  # the lower one wins
    assert [note["data"]["by"] for note in save(ada)] == ["later", "user", "b"]


@pytest.mark.parametrize(
    "size",
    [pytest.param(DESK, id="desk"), pytest.param(PHONE, id="phone", marks=pytest.mark.nightly)],
)
def test_the_notes_are_for_everybody_and_fit_the_window(ada: Visit, size: Any) -> None:
    ada.page.set_viewport_size(size)
    given = {"tone": "dry", "limit": 11, "regions": ["EU"], "days": [1, 2], "strict": True}
    open_page(ada, {"kind": "house", "data": given, "schema": HOUSE}, {"kind": "b", "data": "x"})

    assert ada.grave_findings() == []
    assert ada.overflow() <= 0
    if PICTURES:
        ada.page.set_viewport_size({"width": size["width"], "height": 5000})
        picture = Path(PICTURES) / f"data-notes-{size['width']}.png"
        ada.page.locator("#data-notes").screenshot(path=picture)
