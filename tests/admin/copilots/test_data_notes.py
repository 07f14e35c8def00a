"""A builder writes data notes: what is stored, what is refused and where, what the model will see."""

import json
from typing import Any

from django.test import Client
import pytest

from copilot_admin.models import Copilot
from tests.admin.pages import row_errors, submit, url_of
from tests.factories import make_copilot

pytestmark = pytest.mark.django_db
FORM = "copilot_form"


def save(client: Client, copilot: Copilot, *rows: dict[str, Any], **changes: Any) -> Any:
    sent: dict[str, Any] = {"data_notes-TOTAL_FORMS": str(len(rows)), **changes}
    for index, row in enumerate(rows):
        sent |= {f"data_notes-{index}-{name}": value for name, value in row.items()}
    return submit(client, url_of(copilot), sent, form_id=FORM)


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


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"kind": "a b"}, "kind"),
        ({"kind": "a", "data": "{x"}, "data"),
        ({"kind": "a", "schema": '{"type": "numeral"}'}, "schema"),
    ],
)
def test_an_error_stands_at_its_field(builder: Client, row: dict[str, Any], field: str) -> None:
    [errors] = row_errors(save(builder, make_copilot(), row), "data_notes")
    assert list(errors) == [field]


def test_data_that_does_not_fit_is_stored_and_told_with_its_path(builder: Client) -> None:
    copilot = make_copilot()
    schema = '{"properties": {"u": {"properties": {"age": {"type": "number"}}}}}'
    save(builder, copilot, {"kind": "a", "data": '{"u": {"age": "x"}}', "schema": schema})

    copilot.refresh_from_db()
    assert copilot.data_notes[0]["data"] == {"u": {"age": "x"}}
    page = builder.get(url_of(copilot))
    assert "$.u.age: &#x27;x&#x27; is not of type &#x27;number&#x27;" in page.content.decode()


def test_the_preview_shows_what_the_model_will_see(builder: Client) -> None:
    copilot = make_copilot(
        data_notes=[
            {"kind": "user", "data": {"name": "<b>"}},
            {"kind": "user", "data": {"age": 3}},
            {"kind": "user", "data": {"age": 4}, "enabled": False},
        ]
    )
    page = builder.get(url_of(copilot))

    assert (
        "## Data: ¶user\n{\n  &quot;name&quot;: &quot;&lt;b&gt;&quot;,\n  &quot;age&quot;: 3\n}</pre>"
        in page.content.decode()
    )
