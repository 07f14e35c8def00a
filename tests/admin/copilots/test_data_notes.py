"""A builder writes data notes: what is stored, what is refused and where, what the model will see."""

import json
from typing import Any

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.admin.copilots.data_rows import SCHEMA_BUTTON
from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot
from tests.admin.pages import merged, read_form, submit, values_in
from tests.factories import make_copilot, make_user

pytestmark = pytest.mark.django_db
FORM = "copilot_form"


@pytest.fixture
def builder(client: Client) -> Client:
    client.force_login(make_user(Role.BUILDERS, username="ada"))
    return client


def save(client: Client, copilot: Copilot, *rows: dict[str, Any], **changes: Any) -> Any:
    sent: dict[str, Any] = {"data_notes-TOTAL_FORMS": str(len(rows)), **changes}
    for index, row in enumerate(rows):
        sent |= {f"data_notes-{index}-{name}": value for name, value in row.items()}
    url = reverse("admin:copilot_admin_copilot_change", args=[copilot.pk])
    return submit(client, url, sent, form_id=FORM)


def row_errors(response: Any) -> list[dict[str, list[str]]]:
    formset = response.context["adminform"].form["data_notes"].value()
    formset.is_valid()
    return [dict(form.errors) for form in formset.forms]


def test_notes_are_stored_in_their_order(builder: Client) -> None:
    copilot = make_copilot()
    save(
        builder,
        copilot,
        {"kind": "state", "data": "null", "off": "on", "instance": "a", "ORDER": "2"},
        {
            "kind": "user",
            "description": "Who asks.",
            "data": '{"b": 1, "a": 2}',
            "schema": '{"type": "object"}',
            "ORDER": "1",
        },
        data_messages=["widgets"],
    )
    copilot.refresh_from_db()
    assert json.dumps(copilot.data_notes) == json.dumps(
        [
            {
                "kind": "user",
                "description": "Who asks.",
                "data": {"b": 1, "a": 2},
                "schema": {"type": "object"},
            },
            {"kind": "state", "data": None, "instance": "a", "enabled": False},
        ]
    )
    assert copilot.data_messages == {"widgets": True, "merge": False}


def test_what_is_stored_is_shown_and_saved_again_as_it_is(builder: Client) -> None:
    notes = [
        {"kind": "user", "data": {"a": 1}, "schema": {"type": "object"}},
        {"kind": "state", "enabled": False},
    ]
    copilot = make_copilot(data_notes=notes, data_messages={"context": True})
    url = reverse("admin:copilot_admin_copilot_change", args=[copilot.pk])

    submit(builder, url, {}, form_id=FORM)

    copilot.refresh_from_db()
    assert copilot.data_notes == notes
    assert copilot.data_messages == {"context": True}


@pytest.mark.parametrize(
    ("row", "errors"),
    [
        (
            {"kind": "a b"},
            {"kind": ["Begin with a letter, then letters, digits, '.', '-' and '_': house-rules."]},
        ),
        (
            {"kind": "a", "data": "{x"},
            {
                "data": [
                    "This is no JSON. It cannot be read at line 1, column 2. Names and texts stand "
                    "in double quotes, with a comma between two entries and none behind the last."
                ]
            },
        ),
        (
            {"kind": "a", "schema": '{"type": "numeral"}'},
            {
                "schema": [
                    "This is no JSON Schema. $.type: 'numeral' is not valid under any of the "
                    "given schemas"
                ]
            },
        ),
    ],
    ids=["kind", "no JSON", "no schema"],
)
def test_what_is_wrong_stands_next_to_its_field(
    builder: Client, row: dict[str, Any], errors: dict[str, list[str]]
) -> None:
    assert row_errors(save(builder, make_copilot(), row)) == [errors]


def test_data_that_does_not_fit_is_stored_and_told_with_its_path(builder: Client) -> None:
    copilot = make_copilot()
    schema = '{"properties": {"u": {"properties": {"age": {"type": "number"}}}}}'
    save(builder, copilot, {"kind": "a", "data": '{"u": {"age": "x"}}', "schema": schema})

    copilot.refresh_from_db()
    assert copilot.data_notes[0]["data"] == {"u": {"age": "x"}}
    page = builder.get(reverse("admin:copilot_admin_copilot_change", args=[copilot.pk]))
    assert (
        "The data does not fit the schema. $.u.age: &#x27;x&#x27; is not of type &#x27;number&#x27;"
        in page.content.decode()
    )


def test_the_preview_shows_what_the_model_will_see(builder: Client) -> None:
    copilot = make_copilot(
        data_notes=[
            {"kind": "user", "data": {"name": "<b>"}},
            {"kind": "user", "data": {"age": 3}},
            {"kind": "user", "data": {"age": 4}, "enabled": False},
        ]
    )
    page = builder.get(reverse("admin:copilot_admin_copilot_change", args=[copilot.pk]))

    assert (
        "## Data: ¶user\n{\n  &quot;name&quot;: &quot;&lt;b&gt;&quot;,\n  &quot;age&quot;: 3\n}</pre>"
        in page.content.decode()
    )


def ask_for_schema(client: Client, copilot: Copilot, row: dict[str, Any]) -> Any:
    url = reverse("admin:copilot_admin_copilot_change", args=[copilot.pk])
    sent: dict[str, Any] = {"data_notes-TOTAL_FORMS": "1", SCHEMA_BUTTON: "data_notes-0"}
    sent |= {f"data_notes-0-{name}": value for name, value in row.items()}
    values = merged(read_form(client, url, form_id=FORM), sent)
    return client.post(url, values)


def test_a_schema_is_made_from_the_data_by_a_button_alone(builder: Client) -> None:
    copilot = make_copilot(name="Before")
    row = {"kind": "user", "data": '{"age": 30, "tags": ["a"]}', "schema": "5"}

    page = ask_for_schema(builder, copilot, row)

    shown = values_in(page.content.decode(), form_id=FORM)
    assert json.loads(shown["data_notes-0-schema"][0]) == {
        "type": "object",
        "properties": {
            "age": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
    }
    assert shown["data_notes-0-data"] == ['{"age": 30, "tags": ["a"]}']
    assert "errornote" not in page.content.decode()
    copilot.refresh_from_db()
    assert copilot.data_notes == []  # nothing is saved before it was looked at
