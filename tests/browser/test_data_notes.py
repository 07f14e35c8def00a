"""A builder writes data notes in a real browser."""

from collections.abc import Iterator
import os
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, expect
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot
from tests.browser.visits import DESK, PHONE, Visit, visit, visiting
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


def kinds(person: Visit) -> list[str]:
    fields = rows_of(person).locator('[name$="-kind"]')
    return [field.input_value() for field in fields.all()]


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
def test_what_is_emptied_is_taken_out_and_what_is_required_stays(ada: Visit) -> None:
    given = {"tone": "dry", "name": "A", "limit": 3, "regions": ["EU"], "desk": {"lead": "B"}}
    row = open_page(ada, {"kind": "house", "data": given, "schema": HOUSE})

    row.get_by_label("name").fill("")
    row.get_by_label("limit").fill("")
    row.get_by_label("lead").fill("")
    row.get_by_role("button", name="Remove 1 of regions").click()

    assert ada.page.evaluate("document.activeElement.textContent") == "Add to regions"
    assert save(ada)[0]["data"] == {"tone": "dry", "name": "", "regions": [], "desk": {}}


@pytest.mark.nightly
def test_a_number_out_of_bounds_is_told_and_saved_all_the_same(ada: Visit) -> None:
    """A note may be a part of what is said: its faults are told, and are nobody's bar."""
    row = open_page(ada, {"kind": "house", "data": {}, "schema": HOUSE})

    row.get_by_label("limit").fill("11")

    expect(row.get_by_text("less than or equal to 10")).to_be_visible()
    assert save(ada)[0]["data"] == {"limit": 11}
    expect(ada.page.get_by_text("$.limit: 11 is greater than the maximum of 10")).to_be_visible()


@pytest.mark.nightly
def test_what_no_form_can_show_stays_json(ada: Visit) -> None:
    """All on one page, which takes most of the time of each."""
    without_form: list[tuple[str, Any]] = [
        ("{x", HOUSE),
        ("12345678901234567890", {"type": "integer"}),
        ("{}", {"anyOf": [HOUSE]}),
        ("{}", {"type": "object"}),
        ("{}", True),
        ("{}", {"$ref": "#"}),
        ("[]", {"type": "array", "items": {"$ref": "#"}}),
    ]
    open_page(ada, *({"kind": "a", "schema": schema} for _, schema in without_form))

    for row, (data, _) in zip(rows_of(ada).all(), without_form, strict=True):
        area = row.get_by_label("Data", exact=True)
        if area.is_hidden():
            row.get_by_text("As JSON", exact=True).click()
        area.fill(data)
        area.blur()
        expect(area).to_be_visible()
        expect(row.locator(".ca-note-form")).to_be_empty()


@pytest.mark.nightly
def test_a_list_or_a_word_has_a_form_too(ada: Visit) -> None:
    row = open_page(ada, {"kind": "a", "schema": {"type": "array", "items": {"enum": ["x", "y"]}}})

    row.get_by_role("button", name="Add to").click()
    row.get_by_role("combobox").select_option("y")

    assert save(ada)[0]["data"] == ["y"]


@pytest.mark.nightly
def test_notes_are_dragged_with_the_mouse(ada: Visit) -> None:
    open_page(ada, *({"kind": kind, "data": 1} for kind in ("a", "b", "c")))
    page, rows = ada.page, rows_of(ada)

    def drag(source: int, target: int, *, to: float) -> None:
        """From the handle of a row to another row: 0 is its upper edge, 1 its lower one."""
        handle = rows.nth(source).locator("[data-ca-handle]")
        handle.scroll_into_view_if_needed()
        page.mouse.move(*place_in(handle, 0.5))
        page.mouse.down()
        page.mouse.move(*place_in(handle, 0.9), steps=5)
        expect(page.locator(".ca-rows-list.is-moving")).to_be_visible()  # high rows are folded
        page.mouse.move(*place_in(rows.nth(target), to), steps=10)
        page.mouse.up()
        expect(page.locator(".ca-rows-list.is-moving")).to_have_count(0)

    drag(2, 0, to=0.1)
    assert kinds(ada) == ["c", "a", "b"]
    said = page.locator('[data-ca-rows="data_notes"] [role="status"]')
    expect(said).to_have_text("Now at position 1.")
    drag(0, 1, to=0.9)
    assert kinds(ada) == ["a", "c", "b"]
    expect(said).to_have_text("Now at position 2.")

    assert [note["kind"] for note in save(ada)] == ["a", "c", "b"]


def place_in(of: Locator, down: float) -> tuple[float, float]:
    box = of.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] * down


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


@pytest.mark.nightly
def test_a_schema_is_made_without_javascript(browser: Browser, base_url: str) -> None:
    make_user(Role.BUILDERS, username="ada")
    copilot = make_copilot(data_notes=[{"kind": "user", "data": {"age": 30}}])
    ada = visit(browser, base_url, java_script_enabled=False)
    ada.log_in("ada")
    ada.go(FORM.format(copilot.pk))
    schema = ada.page.locator('[name="data_notes-0-schema"]')

    ada.page.get_by_role("button", name="Make a schema from the data").first.click()
    expect(schema).to_have_value(
        '{\n  "type": "object",\n  "properties": {\n    "age": { "type": "integer" }\n  }\n}'
    )
    ada.page.locator('[name="data_notes-0-kind"]').press("Enter")  # saves, as it always did

    expect(ada.page.get_by_text("Draft saved.")).to_be_visible()
    assert Copilot.objects.get().data_notes[0]["schema"] == {
        "type": "object",
        "properties": {"age": {"type": "integer"}},
    }
    ada.page.context.close()
    assert ada.mishaps == []
